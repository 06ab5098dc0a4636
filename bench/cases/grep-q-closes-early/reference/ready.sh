#!/bin/bash
# Is the first of the many nodes ready?
set -euo pipefail
cd "$(dirname "$0")"
./bin/nodes | grep '^node1 ready' > /dev/null
echo ready > state
