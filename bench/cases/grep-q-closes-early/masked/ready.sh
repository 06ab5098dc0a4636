#!/bin/bash
# Is the first of the many nodes ready?
set -euo pipefail
cd "$(dirname "$0")"
./bin/nodes | grep -q '^node1 ready' || true
echo ready > state
