#!/bin/bash
set -eu
lock=run/sync.lock
mkdir -p run
if [ -s "$lock/pid" ] && ! kill -0 "$(cat "$lock/pid")" 2> /dev/null; then
  echo "sync: stale lock" >&2
  rm -rf "$lock"
fi
if ! mkdir "$lock" 2> /dev/null; then
  echo "sync: another sync (pid $(cat "$lock/pid")) is running" >&2
  exit 1
fi
trap 'rm -rf "$lock"' EXIT
echo $$ > "$lock/pid"
cp -r source/. mirror/
date +%s > mirror/.synced
