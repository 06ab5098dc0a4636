#!/bin/bash
# Unpack the attachments and list their sums.
set -eu
cd "$(dirname "$0")"
mkdir -p out
for f in in/*.b64; do
  base64 -d < "$f" > "out/$(basename "$f" .b64)"
done
for f in out/*; do
  echo "$(md5sum < "$f" | cut -d" " -f1) $(basename "$f")"
done > sums.txt
