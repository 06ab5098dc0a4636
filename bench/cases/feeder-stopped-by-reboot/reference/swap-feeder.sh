#!/bin/sh
# Put the new configuration of the feeder in and let it begin anew.
set -eu
cd "$(dirname "$0")"
cp feeder.conf.new feeder.conf
pid=$(cat run/feeder.pid)
if kill -0 $pid 2>/dev/null; then kill -TERM $pid; fi
rm run/feeder.pid
echo "feeder stopped, the supervisor starts it again" > swap.log
