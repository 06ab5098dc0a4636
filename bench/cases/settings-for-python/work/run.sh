#!/bin/bash
set -eu
cd "$(dirname "$0")"
source conf/job.conf
python3 job.py
