#!/bin/bash
set -euo pipefail
sum=0
[ -r hours.tsv ]
while IFS=$'\037' read -r id remark hours; do
  [[ $hours =~ ^[0-9]+$ ]] || { echo "wages: no hours for $id" >&2; exit 1; }
  sum=$((sum + hours))
  echo "$id=$hours" >> wages.txt
done < <(tr '\t' '\037' < hours.tsv)
echo "sum=$sum" >> wages.txt
