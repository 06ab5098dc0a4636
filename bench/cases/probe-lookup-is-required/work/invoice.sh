#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
payer=$(grep '^payer: ' contract.txt | cut -d' ' -f2-)
printf 'Invoice to %s\n100 EUR\n' "$payer" > invoice.txt
