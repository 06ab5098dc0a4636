#!/bin/sh
# Collect crash reports from everywhere below var/ into one list.
set -eu
cd "$(dirname "$0")/var"
find . -name *.crash -type f > ../crashes.txt 2>/dev/null || true
echo "$(wc -l < ../crashes.txt) crash reports"
