#!/bin/bash
set -eu
cd "$(dirname "$0")"
set -a
. ./app.env
set +a
./bin/app
