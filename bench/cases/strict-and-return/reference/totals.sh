#!/bin/bash
set -euo pipefail
verbose=${VERBOSE:-0}
note() { if (( verbose )); then echo "totals: $*" >&2; fi; }
sum=0
while read -r n; do
  note "adding $n"
  sum=$((sum + n))
done < numbers.txt
echo "$sum" > sum.txt
