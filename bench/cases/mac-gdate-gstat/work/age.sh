#!/bin/bash
set -euo pipefail
now=$(gdate -d "${NOW:-now}" +%s)
for f in files/*; do
  m=$(gstat -c %Y "$f")
  echo "$(basename "$f") $(( (now - m) / 86400 ))"
done | gsort -k2,2n > ages.txt
cat ages.txt
