#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
for f in in/*.dat; do
  rowsum "$f" > "out/$(basename "$f" .dat).sum"
done
