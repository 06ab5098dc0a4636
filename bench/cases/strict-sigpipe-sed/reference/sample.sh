#!/bin/bash
set -euo pipefail
sample() { sort -rn "$1" | sed -n 1,3p; }
sample readings.txt > sample.txt
first=$(tr -d ' ' < readings.txt | awk '/./ && !n++')
echo "first $first" >> sample.txt
