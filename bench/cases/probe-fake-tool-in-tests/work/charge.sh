#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
cardcharge --amount 100 --ref R1 > receipt.txt
echo R1 >> charged.txt
