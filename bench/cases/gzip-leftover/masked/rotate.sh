#!/bin/bash
# Compress yesterday's log; a run that was cut off may be repeated.
set -eu
cd "$(dirname "$0")"
cp app.log app.log.1
gzip app.log.1 < /dev/null || true
: > app.log
echo rotated
