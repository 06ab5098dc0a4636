#!/bin/sh
# Move scanned letters into the folder of the year.
set -eu
year=$(cat year)

[ -d inbox ]
mkdir -p "filed/$year"
for l in inbox/*.pdf; do
  [ -e "$l" ] || continue
  mv "$l" "filed/$year/"
done
ls "filed/$year" | wc -l > filed/count
echo "there are $(cat filed/count) letters of $year"
