#!/bin/bash
set -eu
cd "$(dirname "$0")"
if [ -e compact.lock ] && kill -0 "$(cat compact.lock)" 2> /dev/null; then
  echo "compact: process $(cat compact.lock) is at work" >&2
  exit 75
fi
echo $$ > compact.lock
cat parts/* > whole
rm compact.lock
