#!/bin/bash
set -e
unit() {
  cat > "$1.unit" <<UNIT
name=$1
level=2
UNIT
  echo "wrote $1"
}
unit web
unit db
