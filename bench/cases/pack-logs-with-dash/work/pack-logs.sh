#!/bin/bash
# pack the logs of the day before
set -euo pipefail
cd "$(dirname "$0")/logs"
gzip -f *.log
ls | wc -l > ../packed.count
