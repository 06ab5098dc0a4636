#!/usr/bin/env bash
# Turnover per customer from the warehouse export.
set -euo pipefail
cd "$(dirname "$0")"
src=export/orders.csv
[ -s "$src" ] || { echo "turnover: $src is missing or empty" >&2; exit 2; }
awk -F, '
NR == 1 { next }
{
    if ($3 !~ /^[0-9]+(\.[0-9]+)?$/) {
        printf "turnover: line %d: not an amount: %s\n", NR, $3 > "/dev/stderr"
        bad = 1
        exit 1
    }
    sum[$2] += $3
}
END { if (bad) exit 1; for (c in sum) printf "%s %.2f\n", c, sum[c] }
' "$src" | sort > turnover.txt
cat turnover.txt
