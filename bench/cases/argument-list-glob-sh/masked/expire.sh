#!/bin/sh
set -e
cd "$(dirname "$0")"
for f in sessions/*.sess; do
  owner=$(head -n 1 "$f" || echo none)
  mv "$f" "closed/$owner.sess" || true
done
ls closed | sort > closed.txt
