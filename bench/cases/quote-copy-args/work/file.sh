#!/bin/bash
set -eu
mkdir -p filed
for f in $*; do
  cp $f filed/
  echo "$f" >> filed/LIST
done
