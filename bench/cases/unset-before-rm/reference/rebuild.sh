#!/bin/bash
set -u
cd "$(dirname "$0")"
. ./paths.inc

# throw last week's pages away, then build anew
rm -rf "${pages_root:?}"/*
mkdir -p "$pages_root" || exit 1
for s in src/*.md; do
  sed 's/^# \(.*\)/<h1>\1<\/h1>/' "$s" > "$pages_root/$(basename "$s" .md).html" || exit 1
done
echo "built in $pages_root"
