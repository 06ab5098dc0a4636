#!/bin/bash
set -eo pipefail
cd "$(dirname "$0")"
rate=2
cat > bill.awk <<EOF
# written by bill.sh
{ cost = $2 * rate; printf "%s %.2f\n", $1, cost; sum += cost }
END { printf "all %.2f\n", sum }
EOF
awk -v rate="$rate" -f bill.awk hours.txt > bill.txt
