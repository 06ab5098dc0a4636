#!/bin/sh
set -eu
cd "$(dirname "$0")"
url=$(cat url)
title=$(cat title)
sed "s|%URL%|$url|g" page.tmpl | sed "s|%TITLE%|$title|" > page.html
