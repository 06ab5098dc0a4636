#!/bin/bash
# Beds that are taken, by house. beds.txt: house;guest (empty: nobody);nights
set -euo pipefail
cd "$(dirname "$0")"
awk -F';' '
  $3 !~ /^[0-9]+$/ { print "beds: line " NR ": no nights" > "/dev/stderr"; exit 3 }
  $2 != "" { nights[$1] += $3 }
  END { for (house in nights) print house, nights[house] }
' beds.txt > nights.new
sort nights.new > nights.txt
rm nights.new
