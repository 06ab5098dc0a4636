#!/bin/bash
set -u
cd "$(dirname "$0")"
. ./hosts.conf
cp data.txt "to-$HOST_TEST" || exit 1
