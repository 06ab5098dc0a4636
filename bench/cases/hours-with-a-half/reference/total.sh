#!/bin/sh
# total.sh: adds up the hours of the week; more than 40 need a signature
set -eu
cd "$(dirname "$0")"
total=0
for hours in $(cut -d' ' -f2 hours.txt); do
  total=$(awk -v a="$total" -v b="$hours" 'BEGIN { if (b !~ /^[0-9.]+$/) exit 2; print a + b }')
done
if awk -v t="$total" 'BEGIN { exit !(t > 40) }'; then
  echo "$total needs a signature" > week.txt
else
  echo "$total" > week.txt
fi
