#!/bin/sh
set -e
base=$(dirname "$0")/..
while read -r id name; do
  mklabel "$id" "$name"
done < "$base/labels.txt" > "$base/labels.out"
echo done
