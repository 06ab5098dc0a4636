#!/bin/bash
# Which cold rooms are warmer than they may be, and by how much. rooms.txt: ROOM DEGREES
set -euo pipefail
cd "$(dirname "$0")"
allowed=4
: > warm.txt
while read -r room degrees; do
  over=$((degrees - allowed))
  if [ "$over" -gt 0 ]; then
    echo "$room $over" >> warm.txt
  fi
done < rooms.txt
