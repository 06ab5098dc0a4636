#!/bin/sh
set -eu
count() {
  grep -c "$1" batch.csv
}
rejected=$(count ',REJECT$')
passed=$(count ',PASS$')
printf 'passed %s rejected %s\n' "$passed" "$rejected" > quality.txt
