#!/bin/bash

LOG=app/log/service.log
errors=$(awk '$2 == "ERROR"' "$LOG" 2>/dev/null | wc -l)
echo "errors: $errors" > errors.txt
