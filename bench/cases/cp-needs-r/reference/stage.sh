#!/bin/sh
set -e
cd "$(dirname "$0")"
rm -rf stage
mkdir stage
cp -r app/* stage/
ls stage | wc -l > staged
