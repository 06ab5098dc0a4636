#!/bin/sh
# usage: notify.sh GROUP [SUBJECT]
set -eu
cd "$(dirname "$0")"
[ -f "groups/$1" ] || { echo "notify: no group $1" >&2; exit 2; }
printf 'To: %s\nSubject: %s\n' "$(cat "groups/$1")" "$2" > mail.txt
