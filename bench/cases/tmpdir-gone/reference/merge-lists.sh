#!/bin/bash
set -euo pipefail
# merge the block lists
cd "$(dirname "$0")"
. ./local.env
export TMPDIR
mkdir -p "$TMPDIR"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat lists/*.txt | sort -u > "$work/all"
mv "$work/all" merged.txt
wc -l < merged.txt
