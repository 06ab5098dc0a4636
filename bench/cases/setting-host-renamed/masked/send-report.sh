#!/usr/bin/env bash
set -euo pipefail
# Put the report into the queue of the report server.
cd "$(dirname "$0")"
. ./report.env

queue="queue/${REPORT_HOST:-nowhere}"
mkdir -p "$queue"
cp report.html "$queue/$(date -u +%Y).html"
echo "queued for ${REPORT_HOST:-nowhere} ($REPORT_OWNER)"
