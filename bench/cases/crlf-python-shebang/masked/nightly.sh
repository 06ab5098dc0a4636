#!/bin/bash
set -e
cd "$(dirname "$0")"
./tools/total.py < cash.txt > total.txt || true
echo "total $(cat total.txt)"
