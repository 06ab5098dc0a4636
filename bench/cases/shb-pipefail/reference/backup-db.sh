#!/usr/bin/env bash
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
: > dump.txt
cat db/*.sql | grep -v '^--' | gzip -nc > dump.gz
gzip -dc dump.gz | wc -l
