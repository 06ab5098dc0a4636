#!/bin/bash
set -euo pipefail
warn_if_many() {
  local n=$1
  if [ "$n" -gt 3 ]; then echo "WARNING: $n failures" >> mail.txt; fi
}
n=$(awk '$2 == "failed" { n++ } END { print n + 0 }' jobs.txt)
warn_if_many "$n"
echo "checked, $n failures" >> mail.txt
