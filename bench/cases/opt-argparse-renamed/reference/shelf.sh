#!/bin/bash
set -euo pipefail
for r in A B; do
  bin/shelfctl list --shelf "$r" --output-format csv stock.txt
done > shelves.csv
wc -l < shelves.csv
