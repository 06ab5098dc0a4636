#!/bin/sh
set -e
base=$(dirname "$0")/..
PATH=$PATH:$(cd "$base" && pwd)/bin
while read -r id name; do
  mklabel "$id" "$name"
done < "$base/labels.txt" > "$base/labels.out"
echo done
