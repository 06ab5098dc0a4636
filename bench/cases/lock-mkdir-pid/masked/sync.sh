#!/bin/bash
set -eu
lock=run/sync.lock
mkdir -p run
if ! mkdir "$lock" 2> /dev/null; then
  echo "sync: another sync (pid $(cat "$lock/pid")) is running" >&2
fi
trap 'rm -rf "$lock"' EXIT
echo $$ > "$lock/pid"
cp -r source/. mirror/
date +%s > mirror/.synced
