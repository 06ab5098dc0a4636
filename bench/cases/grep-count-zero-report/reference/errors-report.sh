#!/bin/sh
set -e
cd "$(dirname "$0")"
for log in logs/*.log; do
  n=$(grep -c ERROR "$log") || [ $? -eq 1 ]
  echo "$(basename "$log") $n"
done > report.txt
cat report.txt
