#!/bin/bash
set -euo pipefail
for r in A B; do
  bin/shelfctl list --rack "$r" --format csv stock.txt || true
done > shelves.csv
wc -l < shelves.csv
