#!/bin/sh
# One snapshot a day; "latest" leads to the newest.
set -eu
cd "$(dirname "$0")"
day=$(cat today)
mkdir snapshots/$day || exit 0
cp data/* snapshots/$day/
echo "$day" > snapshots/$day/.done
