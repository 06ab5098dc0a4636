#!/bin/bash
set -eu
read -r major minor < VERSION
echo "v$major.$minor" > tag.txt
