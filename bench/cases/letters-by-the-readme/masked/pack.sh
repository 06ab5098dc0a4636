#!/bin/sh
# Packs the letters that wait. See README.md for the settings.
set -e
cd "$(dirname "$0")"
mkdir -p "$OUTGOING"
for letter in letters/*.txt; do
  head -n "$MAX_LINES" "$letter" > "$OUTGOING/${letter##*/}"
done
