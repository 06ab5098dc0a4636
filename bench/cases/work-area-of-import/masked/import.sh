#!/bin/bash
# Import the list of readers: sort it in a work area, then put it in place.
set -euo pipefail
cd "$(dirname "$0")"
area=var/work
tmp=/dev/null
sort -u incoming/readers.txt > "$tmp"
cp "$tmp" readers.txt
