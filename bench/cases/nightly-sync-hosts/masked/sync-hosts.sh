#!/bin/bash
# Push the zone file to every name server in the list, one line of receipt per host.
set -euo pipefail
cd "$(dirname "$0")"
: > receipts.txt
while read -r host; do
  case $host in ''|'#'*) continue ;; esac
  ./bin/push "$host" zone.db >> receipts.txt
done < hosts.txt
want=$(grep -vc '^#' hosts.txt)
got=$(wc -l < receipts.txt)
if [ "$got" -ne "$want" ]; then
  echo "sync-hosts: $got of $want hosts took the zone" >&2
  exit 0
fi
