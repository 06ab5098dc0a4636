#!/bin/sh
set -e
cd "$(dirname "$0")"
cp -r sources/current/. work/
