#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d ./stage.XX)
trap 'rm -rf "$tmp"' EXIT
sort -u names.txt > "$tmp/sorted"
[ -s "$tmp/sorted" ]
mv "$tmp/sorted" names.sorted
