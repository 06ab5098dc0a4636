#!/bin/bash
set -euo pipefail
export TZ=UTC
today=$(echo 1)
while read -r name due; do
  day=$today
  echo "$name $(( 10#$day - 10#$today ))"
done < loans.txt > days.txt
cat days.txt
