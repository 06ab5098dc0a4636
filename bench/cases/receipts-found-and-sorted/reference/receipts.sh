#!/bin/bash
# One line per receipt: size and name
set -euo pipefail
: > list.txt
while IFS= read -r -d '' r; do
  size=$(wc -c < "$r")
  [ $size -gt 0 ]
  echo "$size ${r##*/}" >> list.txt
done < <(find receipts -type f -name '*.txt' -print0 | sort -z -r | head -z -n 20)
