#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
./bin/dumper --compact --output dump.txt notes
test -s dump.txt
