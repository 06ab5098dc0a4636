#!/bin/bash
set -eu
cd "$(dirname "$0")"
day=$(cat day)
for f in inbox/*.msg; do
  wc -c < "$f" >> sizes.txt
done
mkdir -p "archive/$day"
mv inbox/*.msg "archive/$day"
