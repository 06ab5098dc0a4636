#!/bin/bash

warn_if_many() {
  local n=$1
  [ "$n" -gt 3 ] && echo "WARNING: $n failures" >> mail.txt || true
}
n=$(awk '$2 == "failed" { n++ } END { print n + 0 }' jobs.txt)
warn_if_many "$n"
echo "checked, $n failures" >> mail.txt
