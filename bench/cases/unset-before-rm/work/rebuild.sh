#!/bin/bash
set -u
cd "$(dirname "$0")"
. ./paths.inc

# throw last week's pages away, then build anew
rm -rf "$page_root"/*
mkdir -p "$page_root" || exit 1
for s in src/*.md; do
  sed 's/^# \(.*\)/<h1>\1<\/h1>/' "$s" > "$page_root/$(basename "$s" .md).html" || exit 1
done
echo "built in $page_root"
