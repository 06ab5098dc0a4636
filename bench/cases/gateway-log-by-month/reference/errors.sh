#!/bin/bash
# Errors per day of this month, from the gateway's log.
set -eu
cd "$(dirname "$0")"
month=$(cat month)
log=gateway/data/logs/error-$month.log
grep "^$month" "$log" | cut -c1-10 | sort | uniq -c | awk '{ print $2, $1 }' > errors.txt
test -s errors.txt
