#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
bash tools/mailpack --spool queue letters/*.txt
wc -l < queue/pack > count.txt
