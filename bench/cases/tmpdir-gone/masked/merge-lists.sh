#!/bin/bash
# merge the block lists
cd "$(dirname "$0")"
. ./local.env
export TMPDIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat lists/*.txt | sort -u > "$work/all"
mv "$work/all" merged.txt
wc -l < merged.txt
