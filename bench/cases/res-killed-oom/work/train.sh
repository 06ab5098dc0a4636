#!/bin/bash
set -e
cd "$(dirname "$0")"
echo run >> runs
bash -c 'echo "model: cannot allocate memory (needed 96 GiB)" >&2; kill -9 $$'
