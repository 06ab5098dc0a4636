#!/bin/sh
set -e
state=$(cat state.txt)
if [ $state = "ready to go" ]; then
  cp draft.txt public.txt
elif [ $state = hold ]; then
  echo "on hold" > public.txt
else
  echo "publish: unknown state $state" >&2
  cp draft.txt public.txt
fi
