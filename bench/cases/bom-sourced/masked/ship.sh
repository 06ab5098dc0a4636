#!/bin/bash
set -eu
source ./region.sh || REGION=
mkdir -p out
echo "$REGION/$DEPOT" > out/route
