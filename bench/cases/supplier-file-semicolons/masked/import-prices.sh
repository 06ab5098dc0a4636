#!/bin/bash
# Import the supplier's prices: one file per article in prices/.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p prices
n=0
{
  read -r _heading
  while IFS=, read -r article name price; do
    if [ -z "$price" ]; then
      echo "import-prices: no price for '$article'" >&2
      continue
    fi
    printf '%s\n%s\n' "$name" "$price" > "prices/$article"
    n=$((n + 1))
  done
} < supplier.csv
echo "imported $n prices"
