#!/bin/bash
# weekly list of the links that are dead
set -euo pipefail
cd "$(dirname "$0")"
python3 helpers/links.py pages.lst > dead.txt
