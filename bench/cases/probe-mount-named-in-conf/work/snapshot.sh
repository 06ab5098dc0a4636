#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
. ./snapshot.conf
tar -cf "$TARGET/snap.tar" data
echo done >> snapshot.log
