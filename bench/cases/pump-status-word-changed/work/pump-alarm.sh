#!/bin/bash
set -eu
# How long did each pump run yesterday?
cd "$(dirname "$0")"
awk '$2 == "running" { s[$1] += $3 } $2 != "running" && $2 != "idle" { print "pump-alarm: unknown state " $2 > "/dev/stderr"; bad = 1 }
END { if (bad) exit 3; for (p in s) print p, s[p] }' pumps.log > hours.txt
sort -o hours.txt hours.txt
