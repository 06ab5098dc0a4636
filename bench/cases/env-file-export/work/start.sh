#!/bin/bash
set -eu
cd "$(dirname "$0")"
. ./app.env
./bin/app
