#!/bin/bash
set -euo pipefail
python3 lib/query.py shop.db "SELECT sku, SUM(qty) AS n FROM sales GROUP BY sku ORDER BY n DESC LIMIT 1" > top.txt
cat top.txt
