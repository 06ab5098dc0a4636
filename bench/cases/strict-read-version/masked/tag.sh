#!/bin/bash
set -eu
read -r major minor < VERSION || true
echo "v$major.$minor" > tag.txt
