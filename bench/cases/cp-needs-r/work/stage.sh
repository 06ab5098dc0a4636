#!/bin/sh
set -e
cd "$(dirname "$0")"
rm -rf stage
mkdir stage
cp app/* stage/
ls stage | wc -l > staged
