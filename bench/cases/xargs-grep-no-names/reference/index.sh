#!/usr/bin/env bash
set -o errexit -o pipefail
cd "$(dirname "$0")"
# Sizes of all waiting letters, in one table.
find outbox -type f -name '*.eml' | sort | xargs -r du -b | sed 's/\t/ /' > index.new
find outbox -type f -name '*.eml' | xargs -r basename -a > names.new
mv index.new index.txt
mv names.new names.txt
