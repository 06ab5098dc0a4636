#!/bin/bash
# has-errors.sh LOG: exit status 0 if the log has errors, 1 if not
exec grep -q 'ERROR' "$1"
