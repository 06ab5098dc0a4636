#!/bin/bash
set -e
cd "$(dirname "$0")"
echo run >> runs
bin/put archive/2030.tar < data.txt
