#!/bin/bash
# Names as "last, first" for the badges.
set -euo pipefail
cd "$(dirname "$0")"
mawk -F: 'NF == 2 { print gensub(/^([^ ]+) (.+)$/, "\\2, \\1", 1, $1) ":" $2 }' guests > badges
