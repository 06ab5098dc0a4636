#!/bin/bash
# Mean response time per hour. An hour without requests gets 0.
cd "$(dirname "$0")"
: > means.txt
for f in hours/*.log; do
  n=$(wc -l < "$f"); [ "$n" -gt 0 ] || continue
  sum=$(awk '{s += $1} END {print s + 0}' "$f")
  echo "$(basename "$f" .log) $((sum / n))" >> means.txt
done
