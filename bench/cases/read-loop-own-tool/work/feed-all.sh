#!/bin/bash
set -eu
cd "$(dirname "$0")"
rm -f fed.log
while IFS= read -r animal
do
  bash ./feed.sh "$animal" >> fed.log
done < animals
if ! diff <(sort animals) <(sort fed.log) > missing.txt; then
  echo "not all were fed" >&2
  exit 3
fi
