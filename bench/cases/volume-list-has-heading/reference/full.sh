#!/bin/bash
# Which volumes are fuller than 90 percent?
# volumes.txt: name, percent, mount
set -euo pipefail
cd "$(dirname "$0")"
./bin/volctl list --plain > volumes.txt
awk 'NR > 1 {
  if ($4 !~ /^[0-9]+$/) { print "full: not a percentage: " $4 > "/dev/stderr"; exit 4 }
  if ($4 > 90) print $2, $1
}' volumes.txt > full.txt
