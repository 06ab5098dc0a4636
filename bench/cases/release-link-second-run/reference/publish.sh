#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
rel=$(cat VERSION)
mkdir -p releases/"$rel"
cp site/* releases/"$rel"/
ln -sfn releases/"$rel" current
echo "published $rel"
