#!/bin/bash
# Close the month: dump the ledger, keep it packed, write the balance.
set -euo pipefail
cd "$(dirname "$0")"
month=$(cat month)
mkdir -p closed

./tools/ledgerctl export books.db > "closed/$month.txt"
total=$(awk '{ s += $2 } END { print s + 0 }' "closed/$month.txt")
gzip -f "closed/$month.txt"
echo "$month $total" >> closed/balances
echo "closed $month with $total"
