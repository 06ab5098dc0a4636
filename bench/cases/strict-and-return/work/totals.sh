#!/bin/bash
set -euo pipefail
verbose=${VERBOSE:-0}
note() { (( verbose )) && echo "totals: $*" >&2; }
sum=0
while read -r n; do
  note "adding $n"
  sum=$((sum + n))
done < numbers.txt
echo "$sum" > sum.txt
