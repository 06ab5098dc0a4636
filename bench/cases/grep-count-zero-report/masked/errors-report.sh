#!/bin/sh
cd "$(dirname "$0")"
for log in logs/*.log; do
  n=$(grep -c ERROR "$log")
  echo "$(basename "$log") $n"
done > report.txt
cat report.txt
