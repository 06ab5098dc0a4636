#!/bin/sh
# Mean and highest temperature per probe. probes.csv comes from the logger: time, probe, degrees.
set -eu
cd "$(dirname "$0")"
awk -F, '
NR == 1 { next }
NF != 3 { print "line " NR " has " NF " columns instead of 3" > "/dev/stderr"; exit 3 }
{ sum[$2] += $3; n[$2]++; if (!($2 in top) || $3 + 0 > top[$2]) top[$2] = $3 + 0 }
END { for (p in n) printf "%s %.2f %.1f\n", p, sum[p] / n[p], top[p] }
' probes.csv > means.new
sort means.new > means.txt
rm means.new
