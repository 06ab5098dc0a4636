#!/bin/bash
# Fees of the car park: PLATE <tab> PERMIT (often empty) <tab> HOURS
set -eu
tab="$(printf '\t')"
total=0
while IFS="$tab" read -r plate permit hours
do
  [[ $hours =~ ^[0-9]+$ ]] || { echo "parking: $plate: hours '$hours'?" >&2; exit 3; }
  [ -n "$permit" ] || total=$((total + hours * 150))
done < cars.tsv
echo "$total" > fees.txt
