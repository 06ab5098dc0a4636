#!/bin/bash
# Doses of the day: NAME MILLIGRAM
set -euo pipefail
rm -f doses.txt
while read -r name mg; do
  twice=$((mg * 2)) || exit 4
  echo "$name $twice" >> doses.txt
done < doses.lst
[ -s doses.txt ] || { echo "doses: nothing written" >&2; exit 0; }
