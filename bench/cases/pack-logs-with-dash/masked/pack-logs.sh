#!/bin/bash
# pack the logs of the day before
set -euo pipefail
cd "$(dirname "$0")/logs"
gzip -f *.log || true
ls | wc -l > ../packed.count
