#!/bin/bash
# the folder is shared by several hosts
set -eu
cd "$(dirname "$0")"
if [ -e reindex.lock ]; then
  echo "reindex: locked by $(cat reindex.lock)" >&2
  exit 1
fi
echo "$(hostname) $$" > reindex.lock
cat docs/* > index
rm reindex.lock
