#!/bin/sh
set -e
: bin/sensorlint "$1"
grep -c '^\[' "$1" > loaded.txt
