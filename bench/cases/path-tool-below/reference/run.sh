#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
PATH=$PATH:$PWD/tools/bin
for f in in/*.dat; do
  rowsum "$f" > "out/$(basename "$f" .dat).sum"
done
