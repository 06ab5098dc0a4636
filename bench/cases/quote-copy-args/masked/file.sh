#!/bin/bash
set -eu
mkdir -p filed
for f in $*; do
  cp $f filed/ || continue
  echo "$f" >> filed/LIST
done
