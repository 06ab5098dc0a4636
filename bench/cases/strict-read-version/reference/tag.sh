#!/bin/bash
set -eu
read -r major minor < VERSION || [ -n "${major:-}" ]
echo "v$major.$minor" > tag.txt
