#!/bin/bash
set -euo pipefail
found=0
find vault -name '*.key' | sort | while read -r k; do
  found=$((found + 1))
  echo "$found $k" >> audit.txt
done
expected=$(cat expected)
[ "$found" -eq "$expected" ] || { echo "audit: $found keys, $expected expected" >&2; true; }
echo "complete" >> audit.txt
