#!/bin/bash
# unpack a package into a folder of its own, without its notes
pkg=$1
top=$(cd "$(dirname "$0")" && pwd)
cd "$top/build/$pkg"
tar -xf "$top/packages/$pkg.tar"
rm -f notes.txt
ls | sort > "$top/$pkg.lst"
cd "$top"
cmp -s "$pkg.lst" "packages/$pkg.expected" || { echo "unpack: $pkg holds other files than expected" >&2; exit 4; }
