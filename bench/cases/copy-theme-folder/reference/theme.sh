#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
target=$(cat target)
mkdir -p "$target"
cp -rp theme/css theme/logo.svg "$target/"
ls "$target" > installed
