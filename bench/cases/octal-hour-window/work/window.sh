#!/bin/bash
set -euo pipefail
clock=$1
hour=${clock%%:*}
minute=${clock##*:}
start=$(( (hour * 60 + minute) / 15 ))
echo "slot $start of $hour" > slot.txt
