#!/bin/bash
# Compress the finished recordings of every station into vault/STATION/.
set -euo pipefail
cd "$(dirname "$0")"

pack() {
  local station=$1 rec
  [ -d "stations/$station" ]
  mkdir -p "vault/$station"
  for rec in "stations/$station"/*.wav; do
    [ -e "$rec" ] || continue
    gzip -nc "$rec" > "vault/$station/$(basename "$rec").gz"
    echo "$station $(basename "$rec")" >> packed.txt
  done
}

: > packed.txt
for s in north south; do
  pack "$s"
done
echo "packed $(wc -l < packed.txt)"
