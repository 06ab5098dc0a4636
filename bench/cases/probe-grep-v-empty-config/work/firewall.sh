#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
grep -v '^#' rules.txt > rules.active
mv rules.active live/rules
