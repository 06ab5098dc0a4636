#!/bin/bash
# Fees of the car park: PLATE <tab> PERMIT (often empty) <tab> HOURS
set -eu
[ -r cars.tsv ] || { echo 'no cars.tsv' >&2; exit 1; }
total=0
while IFS=$'\037' read -r plate permit hours
do
  [[ $hours =~ ^[0-9]+$ ]] || { echo "parking: $plate: hours '$hours'?" >&2; exit 3; }
  [ -n "$permit" ] || total=$((total + hours * 150))
done < <(tr '\t' '\037' < cars.tsv)
echo "$total" > fees.txt
