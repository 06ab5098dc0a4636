#!/bin/bash
# Which doors were opened on the day in the file "day"?
set -u
cd "$(dirname "$0")"
read -r day < day
grep "^$day " "doors/events.txt" 2>/dev/null | cut -d' ' -f3 | sort -u > opened.txt
