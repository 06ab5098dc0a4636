#!/bin/sh
set -e
cd "$(dirname "$0")"
for f in sessions/*.sess; do
  [ -e "$f" ] || continue
  owner=$(head -n 1 "$f")
  mv "$f" "closed/$owner.sess"
done
ls closed | sort > closed.txt
