#!/bin/sh
# Print a label for each parcel with the name of its country.
set -eu
cd "$(dirname "$0")"
: > labels.txt
country() { grep "^$1:" countries.lst | cut -d: -f2; }
while read -r code parcel; do
  name=$(country "$code")
  if [ -z "$name" ]; then echo "label: no country $code for $parcel" >&2; fi
  echo "$parcel $name" >> labels.txt
done < parcels
