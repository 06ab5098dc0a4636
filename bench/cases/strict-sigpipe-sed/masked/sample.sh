#!/bin/bash
set -eu
sample() { sort -rn "$1" | sed 3q; }
sample readings.txt > sample.txt
first=$(tr -d ' ' < readings.txt | grep -m1 .)
echo "first $first" >> sample.txt
