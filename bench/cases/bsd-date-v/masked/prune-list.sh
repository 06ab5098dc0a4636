#!/bin/sh
# list backups older than two weeks
set -eu
cutoff=$(date -u +%Y%m%d)
: > prune.txt
for b in backups/*.tgz; do
  stamp=$(basename "$b" .tgz)
  if [ "$stamp" -lt "$cutoff" ]; then echo "$b" >> prune.txt; fi
done
echo "cutoff $cutoff"
