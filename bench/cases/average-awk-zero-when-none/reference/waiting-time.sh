#!/usr/bin/env bash
# Average waiting time of the hotline per day (seconds); a day without calls counts as 0.
set -euo pipefail
cd "$(dirname "$0")"
: > waiting.txt
for day in calls/*.log; do
  avg=$(awk '{ s += $2; n++ } END { printf "%.1f", (n ? s / n : 0) }' "$day")
  echo "$(basename "$day" .log) $avg" >> waiting.txt
done
cat waiting.txt
