#!/bin/bash
# Restart the worker (a stand-in that only writes its state)
cd "$(dirname "$0")"

stop() {
  if [ -f worker.pid ]; then
    kill "$(cat worker.pid)"
    rm -f worker.pid
  fi
}

start() {
  ./worker > worker.state
  echo "started"
}

stop
start
