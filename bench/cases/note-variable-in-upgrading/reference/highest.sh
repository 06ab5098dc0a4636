#!/bin/sh
set -eu
. ./etc/site.env
sort -n readings.txt -o "$SHARED_TREE/sorted.txt"
