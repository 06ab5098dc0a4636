#!/bin/bash
set -euo pipefail
now=$(date -d "${NOW:-now}" +%s)
for f in files/*; do
  m=$(stat -c %Y "$f")
  echo "$(basename "$f") $(( (now - m) / 86400 ))"
done | sort -k2,2n > ages.txt
cat ages.txt
