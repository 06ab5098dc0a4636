#!/bin/sh
# Readings of the meters are hexadecimal; the lowest bit of the last column says that a meter is in order.
set -eu
cd "$(dirname "$0")"
good=$(mawk 'and($3, 1) { sum += strtonum("0x" $2) } END { print sum + 0 }' readings)
echo "$good" > sum.txt
