#!/bin/bash
set -eu
mkdir -p thumbs
[ -d photos ]
find photos -name '*.jpg' -print0 | while IFS= read -r -d '' p; do
  head -c 3 "$p" > "thumbs/$(basename "$p")"
done
ls thumbs | wc -l
