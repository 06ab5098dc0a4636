#!/bin/bash
# Unpack the recipes that the kitchen keeps in its store.
cd "$(dirname "$0")"
rm -rf recipes
mkdir recipes
git --git-dir=kitchen.git archive master:recipes > recipes.tar || true
tar -xf recipes.tar -C recipes || true
rm recipes.tar
git --git-dir=kitchen.git log -1 --format=%s master > recipes.version
