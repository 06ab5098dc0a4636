#!/bin/sh
set -e
cd "$(dirname "$0")"
LOG=logs/$(cat day).log
LINK=today.log
: >> "$LOG"
ln -sfn "$LOG" "$LINK"
echo started >> "$LINK"
