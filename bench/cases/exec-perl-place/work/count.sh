#!/bin/bash
set -e
cd "$(dirname "$0")"
./bin/freq < text.txt > freq.txt
./bin/top freq.txt
