#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
bash lib/stocks east > east.txt || true
