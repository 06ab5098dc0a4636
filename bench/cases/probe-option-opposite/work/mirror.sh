#!/bin/bash
set -e
cd "$(dirname "$0")"
bin/mirrorctl --no-delete from to
