#!/usr/bin/env bash
set -eo pipefail
GREP=ggrep
ids() {
  "$GREP" -oP 'id=\K\d+' "$1" | sort -nu
}
ids "$1" > ids.out
echo "$(wc -l < ids.out) ids, newest $(tail -n 1 ids.out)"
