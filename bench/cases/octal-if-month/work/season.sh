#!/bin/bash
set -u
IFS=- read -r y m d < date.txt
if (( m >= 6 && m <= 8 )); then
  season=summer
elif (( m == 12 || m <= 2 )); then
  season=winter
else
  season=other
fi || exit 1
days=$(( d + 0 )) || exit 1
echo "$y $season $days" > season.txt
