#!/bin/bash
set -e
cd "$(dirname "$0")"
mkdir -p out
for p in in/*; do
  [ -e "$p" ] || continue
  f=$(basename "$p")
  tr a-z A-Z < "in/$f" > "out/$f"
done
ls out | wc -l > count
