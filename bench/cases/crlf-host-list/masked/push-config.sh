#!/bin/bash
# one rendered file per host of the list (the list is kept in a spreadsheet)
set -u
mkdir -p out
while IFS=, read -r host template; do
  [ "$host" = host ] && continue
  sed "s/@HOST@/$host/" "templates/$template" 2>/dev/null > "out/$host.conf"
done < hosts.csv
echo "$(ls out | wc -l) hosts"
