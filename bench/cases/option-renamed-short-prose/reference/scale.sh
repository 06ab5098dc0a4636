#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p small
for p in big/*; do
  ./imgtool --max-width 4 "$p" > "small/$(basename "$p")"
done
