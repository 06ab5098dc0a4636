#!/usr/bin/env bash
set -e
read -r -d '' QUERY <<'SQL'
SELECT name FROM t
ORDER BY name;
SQL
echo "$QUERY" > query.sql
wc -l < query.sql
