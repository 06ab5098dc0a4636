#!/bin/bash
# Which doors were opened on the day in the file "day"?
set -euo pipefail
cd "$(dirname "$0")"
read -r day < day
grep "^$day " "doors/days/events_${day}.txt" | cut -d' ' -f3 | sort -u > opened.txt
