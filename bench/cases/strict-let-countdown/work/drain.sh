#!/bin/bash
set -euo pipefail
left=$(wc -l < queue.txt)
while IFS= read -r item; do
  echo "sent $item" >> sent.log
  let left-=1
done < queue.txt
echo "left $left" >> sent.log
