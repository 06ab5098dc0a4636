#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
bad=$(awk '$2 > 100' results.txt | wc -l)
(( bad == 0 ))
cp results.txt public.txt
