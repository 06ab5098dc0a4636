#!/bin/sh
set -e
LC_ALL=C sort members.txt > members.c
comm --nocheck-order -13 members.c partner/members.sorted > gone.txt
echo "$(wc -l < gone.txt) gone"
