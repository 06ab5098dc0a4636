#!/bin/sh
set -eu
cd "$(dirname "$0")"
level=$(sed -n 's/^level=//p' conf)
if test "$level" = high -o "$level" = max; then
  echo strong > plan
else
  echo plain > plan
fi
test "$level" != forbidden
