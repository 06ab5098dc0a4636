#!/bin/bash
set -e
old=before new=after
diff -u "$old" "$new" > changes.patch || true
lines=$(grep -c '^[+-][^+-]' changes.patch || true)
echo "$lines changed lines" > changes.txt
cp "$new" "$old.next"
