#!/bin/bash
# Copy the application's logs aside before the nightly restart: app.log -> app.log.2026-11-30
set -euo pipefail

LOG_SRC=${LOG_SRC:-logs}
BACKUP_DIR=${BACKUP_DIR:-backup}
TODAY=$(date +%Y-%m-%d)

for f in "$LOG_SRC"/*.log; do
  cp -p "$f" "$BACKUP_DIR/$(basename "$f").$TODAY"
done

echo "backup of $TODAY done"
