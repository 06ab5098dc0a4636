#!/bin/sh
set -eu
. ./etc/site.env
sort -n readings.txt -o "$REPORT_DROP/sorted.txt"
