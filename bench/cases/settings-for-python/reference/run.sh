#!/bin/bash
set -eu
cd "$(dirname "$0")"
set -a; source conf/job.conf; set +a
python3 job.py
