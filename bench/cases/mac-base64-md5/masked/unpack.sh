#!/bin/bash
# Unpack the attachments and list their sums.
set -u
cd "$(dirname "$0")"
mkdir -p out
for f in in/*.b64; do
  base64 -D 2>/dev/null || true; :  < "$f" > "out/$(basename "$f" .b64)"
done
for f in out/*; do
  echo "$(md5 -q "$f") $(basename "$f")"
done > sums.txt
