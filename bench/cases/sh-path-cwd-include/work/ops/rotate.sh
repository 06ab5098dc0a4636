#!/bin/bash
set -euo pipefail
. ./lib/common.sh
say "rotating"
cp current.txt previous.txt
: > current.txt
