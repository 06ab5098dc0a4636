#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
./steps/count.py > count.txt || true
