#!/bin/sh
# throw away the temporary files of the editors
set -e
cd "$(dirname "$0")/inbox"
ls > ../before.txt
rm *.tmp || true
ls > ../after.txt
