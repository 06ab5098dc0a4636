#!/bin/sh
set -e
cd "$(dirname "$0")"
SPOOL=spool
mkdir -p -m 2750 "$SPOOL"
chmod 2750 "$SPOOL"
./bin/deliver "$SPOOL"
