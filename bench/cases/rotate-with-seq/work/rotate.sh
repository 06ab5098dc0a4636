#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")/logs"
KEEP=5
for n in $(seq 1 $((KEEP - 1))); do
  mv "app.log.$n" "app.log.$((n + 1))"
done
mv app.log app.log.1
: > app.log
