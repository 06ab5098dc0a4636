#!/bin/bash
# archive.sh FOLDER [LABEL]   the label is optional; without one the archive is called "daily"
set -eu
src=$1
label=$2
if [ -z "$label" ]; then
  label=daily
fi
cd "$(dirname "$0")"
tar cf "$label.tar" "$src"
echo "$label.tar"
