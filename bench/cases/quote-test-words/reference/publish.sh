#!/bin/sh
set -e
state=$(cat state.txt)
if [ "$state" = "ready to go" ]; then
  cp draft.txt public.txt
elif [ "$state" = hold ]; then
  echo "on hold" > public.txt
else
  echo "publish: unknown state $state" >&2
  exit 7
fi
