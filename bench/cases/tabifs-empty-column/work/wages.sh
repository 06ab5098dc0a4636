#!/bin/bash
set -euo pipefail
sum=0
while IFS=$'\t' read -r id remark hours; do
  [[ $hours =~ ^[0-9]+$ ]] || { echo "wages: no hours for $id" >&2; exit 1; }
  sum=$((sum + hours))
  echo "$id=$hours" >> wages.txt
done < hours.tsv
echo "sum=$sum" >> wages.txt
