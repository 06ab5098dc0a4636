#!/bin/sh
# Check the proxy's configuration and put it live.
set -e
here=$(cd "$(dirname "$0")" && pwd)
"$here/bin/proxyd" --check "$here/proxy.yaml"
mkdir -p "$here/live"
cp "$here/proxy.yaml" "$here/live/proxy.yaml"
echo "live"
