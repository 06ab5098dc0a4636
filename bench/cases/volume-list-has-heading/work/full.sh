#!/bin/bash
# Which volumes are fuller than 90 percent?
# volumes.txt: name, percent, mount
set -euo pipefail
cd "$(dirname "$0")"
./bin/volctl list --plain > volumes.txt
awk '{
  if ($2 !~ /^[0-9]+$/) { print "full: not a percentage: " $2 > "/dev/stderr"; exit 4 }
  if ($2 > 90) print $3, $1
}' volumes.txt > full.txt
