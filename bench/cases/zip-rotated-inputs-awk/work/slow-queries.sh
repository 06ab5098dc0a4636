#!/bin/bash
# the slowest queries of last week
set -euo pipefail
cd "$(dirname "$0")"
grep -h ' slow ' archive/db.log > slow.txt
[ -s slow.txt ] || { echo "slow-queries: none, that is suspicious" >&2; exit 1; }
wc -l < slow.txt
