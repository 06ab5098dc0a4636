#!/usr/bin/env bash
read -r -d '' QUERY <<'SQL'
SELECT name FROM t
ORDER BY name;
SQL
echo "$QUERY" > query.sql
wc -l < query.sql
