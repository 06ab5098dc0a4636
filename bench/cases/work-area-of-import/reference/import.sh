#!/bin/bash
# Import the list of readers: sort it in a work area, then put it in place.
set -euo pipefail
cd "$(dirname "$0")"
area=var/work
mkdir -p "$area"
tmp=$(mktemp "$area/readers.XXXXXX")
trap 'rm -f "$tmp"' EXIT
sort -u incoming/readers.txt > "$tmp"
[ -s "$tmp" ]
cp "$tmp" readers.txt
