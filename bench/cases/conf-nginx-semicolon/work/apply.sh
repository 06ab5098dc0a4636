#!/bin/bash
set -eu
cd "$(dirname "$0")"
./gwtest -c gateway.conf
cp gateway.conf active.conf
echo "applied"
