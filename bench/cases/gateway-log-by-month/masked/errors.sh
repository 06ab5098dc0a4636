#!/bin/bash
# Errors per day of this month, from the gateway's log.
set -eu
cd "$(dirname "$0")"
month=$(cat month)
log=gateway/log/error.log
grep "^$month" "$log" 2>/dev/null | cut -c1-10 | sort | uniq -c | awk '{ print $2, $1 }' > errors.txt
true
