#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
. ./site.env
sed -e "s|@ROOT@|$ROOT|" -e "s/@NAME@/$NAME/g" vhost.tmpl > vhost.conf.new
grep -q "$ROOT" vhost.conf.new
mv vhost.conf.new vhost.conf
echo "rendered vhost.conf"
