#!/bin/bash
set -o pipefail
sum=0
add() { (( sum += $1 )); }
while read -r what amount; do
  add "$amount"
  echo "$what $sum" >> ledger.txt
done < moves.txt
(( sum == 0 )) && echo "balanced" >> ledger.txt || { echo "off by $sum" >&2; exit 5; }
