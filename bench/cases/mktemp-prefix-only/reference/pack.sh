#!/bin/sh
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d "${TMPDIR:-/tmp}/pack.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp parts/* "$work/"
cat "$work"/* > all.txt
