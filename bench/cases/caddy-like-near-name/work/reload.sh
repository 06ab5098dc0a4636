#!/bin/bash
set -e
cd "$(dirname "$0")"
./proxytest proxy.conf
cp proxy.conf live.conf
