#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
TAB=$'\t'
sum=0
while IFS="$TAB" read -r item note price; do
  case $price in ''|*[!0-9]*) echo "load: $item: no price" >&2; continue ;; esac
  sum=$((sum + price))
done < items.tsv
echo "$sum" > sum
