#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
net/get https://mirror.example.org/list > list.txt
wc -l < list.txt
