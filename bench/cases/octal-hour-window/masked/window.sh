#!/bin/bash
set +e
clock=$1
hour=${clock%%:*}
minute=${clock##*:}
start=$(( (hour * 60 + minute) / 15 )) || start=0
echo "slot $start of $hour" > slot.txt
