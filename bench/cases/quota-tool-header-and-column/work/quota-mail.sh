#!/bin/bash
# Mail text for everybody who uses more than 80 % of the quota.
set -euo pipefail
cd "$(dirname "$0")"
bin/quotas > quotas.now
# quotas.now: user used limit
while read -r user used limit; do
  if (( used * 100 > limit * 80 )); then
    echo "$user: $(( used * 100 / limit )) %"
  fi
done < quotas.now > mail.txt
rm quotas.now
echo "$(wc -l < mail.txt) users to write to"
