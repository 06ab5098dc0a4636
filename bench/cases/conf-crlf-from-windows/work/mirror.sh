#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
source mirror.conf
test -d "$SRC"
cp -r "$SRC/." "$DST/"
ls "$DST" | wc -l > mirrored
