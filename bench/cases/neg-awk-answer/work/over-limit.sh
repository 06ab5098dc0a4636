#!/bin/bash
# over-limit.sh PERCENT
# exit code: 0 nothing is over the limit, 4 something is (listed on stdout)
awk -v l="$1" '$2 > l { print; n = 1 } END { exit n ? 4 : 0 }' disks.txt
