#!/bin/bash
# exit status 1: there are changes that are not committed
cd "$(dirname "$0")/wc" && exec git diff --exit-code --stat
