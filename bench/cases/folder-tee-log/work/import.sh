#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
. ./import.conf

log() { printf '%s %s\n' "${CLOCK:-$(date +%T)}" "$*" | tee -a "$LOGDIR/import.log"; }

log "start"
n=0
while IFS=, read -r sku qty; do
  [[ $qty =~ ^[0-9]+$ ]] || { log "bad quantity for $sku"; exit 4; }
  n=$((n + qty))
done < stock.csv
log "pieces $n"
