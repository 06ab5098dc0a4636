#!/bin/bash
# Compare the wanted state with the real one.
# Returns 0 = no changes, 2 = changes are pending (not an error), 1 = error
[ -r wanted.txt ] && [ -r real.txt ] || exit 1
if ! cmp -s wanted.txt real.txt; then
  echo "plan: $(diff wanted.txt real.txt | grep -c '^[<>]') lines to change"
  exit 2
fi
echo "plan: no changes"
