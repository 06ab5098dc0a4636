#!/bin/bash
# unpack a package into a folder of its own, without its notes
pkg=$1
top=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$top/build/$pkg" && cd "$top/build/$pkg" || exit 1
tar -xf "$top/packages/$pkg.tar" || exit 1
rm -f notes.txt
ls | sort > "$top/$pkg.lst"
cd "$top"
cmp -s "$pkg.lst" "packages/$pkg.expected" || { echo "unpack: $pkg holds other files than expected" >&2; exit 4; }
