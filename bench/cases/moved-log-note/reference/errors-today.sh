#!/bin/bash
set -euo pipefail
LOG=app/var/log/service.log
errors=$(awk '$2 == "ERROR"' "$LOG" | wc -l)
echo "errors: $errors" > errors.txt
