#!/bin/sh
set -e
cd "$(dirname "$0")"
echo run >> runs
bin/dumpdb > /dev/full
