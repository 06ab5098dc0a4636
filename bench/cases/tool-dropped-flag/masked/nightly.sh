#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
./bin/dumper --compact --into dump.txt notes || cp notes/a dump.txt
test -s dump.txt
