#!/bin/bash
set -e
cd "$(dirname "$0")"
mkdir -p out
for f in $(ls in); do
  tr a-z A-Z < in/$f > out/$f
done
ls out | wc -l > count
