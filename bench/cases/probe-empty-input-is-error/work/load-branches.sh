#!/bin/bash
# Load the branches' nightly lists. Every branch sends one, so an empty folder
# means that the transfer failed: the job must fail then, and somebody look.
set -euo pipefail
cd "$(dirname "$0")"
rm -f all.new
for list in incoming/*.lst; do
  cat "$list" >> all.new
done
mv all.new all.lst
