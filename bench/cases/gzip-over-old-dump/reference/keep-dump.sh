#!/bin/sh
# The dump of the night, packed; may be run again the same night.
set -e
cd "$(dirname "$0")"
cat db/*.sql > night.sql
gzip -f -1 night.sql
gzip -t night.sql.gz
