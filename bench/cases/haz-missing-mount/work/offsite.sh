#!/bin/bash
# copy the backup to the offsite disk, which is mounted at mnt/offsite
set -euo pipefail
cd "$(dirname "$0")"
DEST=mnt/offsite/backups
cp backup.tar "$DEST/"
echo "offsite copy done" >> offsite.log
