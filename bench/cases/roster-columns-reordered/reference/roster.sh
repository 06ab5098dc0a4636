#!/bin/bash
# Make a door list from the roster that personnel exports.
set -euo pipefail
cd "$(dirname "$0")"
: > doors.txt
tail -n +2 roster.csv | while IFS=, read -r name _ badge floor; do
  case $floor in
    [0-9]) echo "$badge opens floor $floor for $name" >> doors.txt ;;
    *) echo "roster: $name: no such floor: $floor" >&2; exit 2 ;;
  esac
done
sort -o doors.txt doors.txt
