#!/bin/sh
set -eu
cd "$(dirname "$0")"
url=$(cat url)
title=$(cat title)
cat page.tmpl | sed "s/%URL%/$url/g; s/%TITLE%/x/" > /dev/null || exit 1
sed "s/%URL%/$url/g" page.tmpl | sed "s/%TITLE%/$title/" > page.html
