#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
printf 'PUT %s\nauth: %s\n' results.csv "$UPLOAD_TOKEN" > request.txt
