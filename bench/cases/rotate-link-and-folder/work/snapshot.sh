#!/bin/sh
# One snapshot a day; "latest" leads to the newest.
set -eu
cd "$(dirname "$0")"
day=$(cat today)
mkdir snapshots/$day
cp data/* snapshots/$day/
echo "$day" > snapshots/$day/.done
