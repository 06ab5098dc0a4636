#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
bash lib/stocks pull --desk west > west.txt
