#!/bin/bash
# Which shift is on: 0 to 7 night, 8 to 15 day, 16 to 23 late.
set -euo pipefail
cd "$(dirname "$0")"
hour=${NOW:-$(date +%H)}
shift_no=$(( 10#$hour / 8 ))
case $shift_no in
  0) name=night ;; 1) name=day ;; 2) name=late ;;
  *) echo "no such shift" >&2; exit 1 ;;
esac
echo "$name" > shift.txt
