#!/bin/sh
set -eu
cd "$(dirname "$0")"
PIDFILE=var/mail.pid

running() {
  [ -f "$PIDFILE" ]
}

if running; then
  echo "mail run $(cat "$PIDFILE") has not finished" >&2
  exit 2
fi
echo $$ > "$PIDFILE"
cat queue/* > var/sent.txt
rm "$PIDFILE"
