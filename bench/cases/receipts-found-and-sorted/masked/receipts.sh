#!/bin/bash
# One line per receipt: size and name
set -u
: > list.txt
for r in $(find receipts -type f -name '*.txt' | sort -r | head -n 20); do
  size=$(wc -c < $r)
  [ $size -gt 0 ]
  echo "$size ${r##*/}" >> list.txt
done
