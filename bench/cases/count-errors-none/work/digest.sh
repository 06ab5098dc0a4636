#!/usr/bin/env bash
# Mails out how many errors and warnings there were.
set -Eeuo pipefail
cd -- "$(dirname -- "$0")"
errors=$(grep -c ' ERROR ' app.log)
warnings=$(grep -c ' WARN ' app.log)
printf 'errors=%s warnings=%s\n' "$errors" "$warnings" > digest.txt
