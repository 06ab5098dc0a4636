#!/bin/bash
# the three pages that were asked for most often yesterday
set -euo nounset
cd "$(dirname "$0")"
LOG=logs/access.log.1
awk '{ print $2 }' "$LOG" 2>/dev/null | sort | uniq -c | sort -k1,1nr -k2,2 > counts.txt
head -n 3 counts.txt > top.txt
