#!/bin/sh
# Keep the last four dumps: dump.1 is the newest.
set -e
cd "$(dirname "$0")"
for i in 3 2 1; do
  [ -e dump.$i ] || continue
  mv dump.$i dump.$((i + 1))
done
cp new.dump dump.1
