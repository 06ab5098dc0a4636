#!/bin/bash
# Unpack the recipes that the kitchen keeps in its store.
set -euo pipefail
cd "$(dirname "$0")"
rm -rf recipes
mkdir recipes
git --git-dir=kitchen.git archive main:recipes > recipes.tar
tar -xf recipes.tar -C recipes
rm recipes.tar
git --git-dir=kitchen.git log -1 --format=%s main > recipes.version
