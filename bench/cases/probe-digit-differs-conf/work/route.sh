#!/bin/sh
set -e
cd "$(dirname "$0")"
python3 chk.py routes.conf
cp routes.conf live.conf
