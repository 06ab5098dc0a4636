#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
python3 bin/query.py members.db reports/fees.sql > fees.csv
