#!/bin/sh
set -e
LC_ALL=C sort members.txt > members.c
LC_ALL=C sort partner/members.sorted > partner.c
LC_ALL=C comm -13 members.c partner.c > gone.txt
echo "$(wc -l < gone.txt) gone"
