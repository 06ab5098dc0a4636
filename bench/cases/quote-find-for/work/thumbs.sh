#!/bin/bash
set -eu
mkdir -p thumbs
for p in $(find photos -name '*.jpg'); do
  head -c 3 $p > thumbs/$(basename $p)
done
ls thumbs | wc -l
