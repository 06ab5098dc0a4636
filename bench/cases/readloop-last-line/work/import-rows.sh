#!/bin/bash
set -eu
n=0 total=0
want=$(sed -n 's/^#total //p' rows.txt)
while read -r key amount; do
  case $key in '#'*) continue ;; esac
  n=$((n + 1)); total=$((total + amount))
done < rows.txt
if [ "$total" -ne "$want" ]; then
  echo "import-rows: total $total, expected $want" >&2
  exit 8
fi
echo "$n rows" > imported
