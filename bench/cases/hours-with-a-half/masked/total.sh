#!/bin/sh
# total.sh: adds up the hours of the week; more than 40 need a signature
set -eu
cd "$(dirname "$0")"
total=0
for hours in $(cut -d' ' -f2 hours.txt); do
  total=$((total + ${hours%.*}))
done
if [ "$total" -gt 40 ]; then
  echo "$total needs a signature" > week.txt
else
  echo "$total" > week.txt
fi
