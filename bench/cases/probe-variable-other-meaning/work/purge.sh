#!/bin/bash
set -u
cd "$(dirname "$0")"
. ./dirs.conf
rm -rf "$TMP_DIR"/*
echo purged > purge.log
