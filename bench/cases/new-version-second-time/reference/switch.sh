#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
test -d "versions/$(cat want)"
ln -sfn "versions/$(cat want)/config" active.conf
grep -q '^ok' active.conf
cp active.conf served.conf
