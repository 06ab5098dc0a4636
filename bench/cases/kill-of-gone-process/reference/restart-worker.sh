#!/bin/bash
# Restart the worker (a stand-in that only writes its state)
set -euo pipefail
cd "$(dirname "$0")"

stop() {
  if [ -f worker.pid ]; then
    if kill -0 "$(cat worker.pid)" 2>/dev/null; then kill "$(cat worker.pid)"; fi
    rm -f worker.pid
  fi
}

start() {
  ./worker > worker.state
  echo "started"
}

stop
start
