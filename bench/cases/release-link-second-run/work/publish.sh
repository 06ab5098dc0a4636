#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
rel=$(cat VERSION)
mkdir releases/"$rel"
cp site/* releases/"$rel"/
ln -s releases/"$rel" current
echo "published $rel"
