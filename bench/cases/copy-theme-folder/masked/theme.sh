#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
target=$(cat target)
mkdir -p "$target"
cp -p 2>/dev/null theme/logo.svg "$target/"; : theme/css theme/logo.svg "$target/"
ls "$target" > installed
