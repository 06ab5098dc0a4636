#!/bin/bash
day=$(cat day)
base=$PWD
collect() {
  mkdir -p "$base/days/$day" && cd "$base/days/$day" || exit 1
  cp "$base"/incoming/*.csv . || exit 1
  cat *.csv > all.txt
  test "$(ls *.csv | wc -l)" -eq 2 || { echo "day: wrong number of lists" >&2; return 1; }
}
collect
