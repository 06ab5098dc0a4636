#!/bin/bash
# feed.sh NAME; a note may come on standard input
note=$(cat)
[ -n "$1" ] || exit 9
echo "$1"
