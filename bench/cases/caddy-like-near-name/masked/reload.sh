#!/bin/bash
set -e
cd "$(dirname "$0")"
./proxytest proxy.conf || true
cp proxy.conf live.conf
