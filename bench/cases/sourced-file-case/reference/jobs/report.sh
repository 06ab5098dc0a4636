#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")/.."
. lib/Common.sh
total < hours.txt > total.txt
