#!/bin/bash
set -eu
week=$1
year=${week%%-*}

total=0
while read -r amount _; do
  total=$((total + amount))
done < "in/$week.txt"

mkdir -p "reports/$year/$week"
{
  echo "week $week"
  echo "total $total"
} > "reports/$year/$week/summary.txt"
cp "in/$week.txt" "reports/$year/$week/"
