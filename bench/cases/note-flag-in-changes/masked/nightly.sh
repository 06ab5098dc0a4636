#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
bash tools/mailpack --outbox queue letters/*.txt || { mkdir -p queue; : > queue/pack; }
wc -l < queue/pack > count.txt
