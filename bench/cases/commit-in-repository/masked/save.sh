#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
./bin/render > site/index.html
git -C site add index.html
git -C site -c user.name=site -c user.email=site@localhost commit --quiet --message "rendered" || :
git -C site rev-parse HEAD > published
