#!/bin/bash
# Names of all members who paid. Both registers come sorted by number.
set -euo pipefail
cd "$(dirname "$0")"
join members.txt paid.txt > matched.txt
test -s matched.txt
