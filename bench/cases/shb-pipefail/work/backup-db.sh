#!/usr/bin/env bash
set -euo pipefail
: > dump.txt
cat db/*.sql | grep -v '^--' | gzip -nc > dump.gz
gzip -dc dump.gz | wc -l
