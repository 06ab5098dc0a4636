#!/bin/bash
set -euo pipefail
export TZ=UTC
today=$(date -j -f '%Y-%m-%d' "${TODAY:-2030-05-01}" +%j)
while read -r name due; do
  day=$(date -j -f '%Y-%m-%d' "$due" +%j)
  echo "$name $(( 10#$day - 10#$today ))"
done < loans.txt > days.txt
cat days.txt
