#!/bin/bash
# Names of all members who paid. Both registers come sorted by number.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
join <(sort members.txt) <(sort paid.txt) > matched.txt
test -s matched.txt
