#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
[ -r items.tsv ]
SEP=$'\037'
sum=0
while IFS="$SEP" read -r item note price; do
  case $price in ''|*[!0-9]*) echo "load: $item: no price" >&2; exit 1 ;; esac
  sum=$((sum + price))
done < <(tr '\t' '\037' < items.tsv)
echo "$sum" > sum
