echo old | gzip -c > night.sql.gz
