#!/bin/bash
set -e
cd "$(dirname "$0")"
python3 -m json.tool settings/flags.json > flags.compact
echo rolled > state
