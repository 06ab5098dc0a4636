#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")/camera"
n=$(find . -maxdepth 2 -iname '*.jpg' -print | wc -l)
[ "$n" -gt 0 ] || { echo "no pictures" >&2; exit 4; }
echo "$n" > ../count
