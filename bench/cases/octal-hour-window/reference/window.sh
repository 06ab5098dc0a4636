#!/bin/bash
set -euo pipefail
clock=$1
hour=${clock%%:*}
minute=${clock##*:}
start=$(( (10#$hour * 60 + 10#$minute) / 15 ))
echo "slot $start of $hour" > slot.txt
