#!/usr/bin/env bash
# Send each letter to the tray of its department.
set -eo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tray() {
    grep "^$1[[:blank:]]" trays.conf | awk -F' ' '{ print $2 }'
}

route() {
    local where
    where=$(tray "$1")
    echo "$2 -> $where" >> routes.txt
    [ -n "$where" ] || echo "$2" >> lost.txt
}

rm -f routes.txt lost.txt
while IFS=: read -r department letter; do
    route "$department" "$letter"
done < letters
if [ -s lost.txt ]; then
    echo "route: $(wc -l < lost.txt) letters without a tray" >&2
    exit 9
fi
