#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")/.."
. lib/common.sh
total < hours.txt > total.txt
