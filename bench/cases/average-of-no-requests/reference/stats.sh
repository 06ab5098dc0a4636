#!/bin/bash
# Mean response time per hour. An hour without requests gets 0.
set -euo pipefail
cd "$(dirname "$0")"
: > means.txt
for f in hours/*.log; do
  n=$(wc -l < "$f")
  sum=$(awk '{s += $1} END {print s + 0}' "$f")
  echo "$(basename "$f" .log) $((n > 0 ? sum / n : 0))" >> means.txt
done
