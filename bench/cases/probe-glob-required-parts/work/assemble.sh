#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
cat parts/*.bin > image.new
[ -s image.new ] || { echo "assemble: empty image" >&2; exit 4; }
mv image.new image.bin
