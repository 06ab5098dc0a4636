#!/bin/bash
# Make the settings of each service; names come from services.txt.
set -euo pipefail
cd "$(dirname "$0")"
port=9000
mkdir -p out
while read -r name; do
  port=$((port + 1))
  cat > "out/$name.conf" <<CONF
listen $port;
server_name $name;
proxy_set_header Host \$host;
proxy_set_header X-Real-IP \$remote_addr;
CONF
done < services.txt
