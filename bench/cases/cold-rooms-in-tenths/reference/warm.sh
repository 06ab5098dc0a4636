#!/bin/bash
# Which cold rooms are warmer than they may be, and by how much. rooms.txt: ROOM DEGREES
set -euo pipefail
cd "$(dirname "$0")"
allowed=4
: > warm.txt
while read -r room degrees; do
  over=$(awk -v a="$degrees" -v b="$allowed" 'BEGIN { if (a !~ /^-?[0-9.]+$/) exit 2; print a - b }')
  if awk -v o="$over" 'BEGIN { exit !(o > 0) }'; then
    echo "$room $over" >> warm.txt
  fi
done < rooms.txt
