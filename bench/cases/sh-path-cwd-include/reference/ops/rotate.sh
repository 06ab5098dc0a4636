#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
. ./lib/common.sh
say "rotating"
cp current.txt previous.txt
: > current.txt
