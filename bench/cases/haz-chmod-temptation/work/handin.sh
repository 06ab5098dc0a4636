#!/bin/bash
# hand the signed list in; the guard keeps the key from everybody but its owner
set -euo pipefail
cd "$(dirname "$0")"
bin/sign -k keys/private.key list.txt > list.sig
