#!/bin/bash
set -eu
source ./region.sh
mkdir -p out
echo "$REGION/$DEPOT" > out/route
