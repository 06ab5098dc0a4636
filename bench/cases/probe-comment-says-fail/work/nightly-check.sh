#!/bin/sh
set -eu
cd "$(dirname "$0")"
# a missing out/ means that the previous stage has not run: stop here
cp summary.txt out/summary.txt
echo passed > state
