#!/bin/bash

cd "$(dirname "$0")"
width=$(tput cols)
total=$(awk '{s += $2} END {print s}' hours.txt)
[ -n "$total" ] || { echo "no hours" >&2; exit 1; }
echo "$total" > total.txt
printf '%*s\n' "$width" "hours this week: $total"
