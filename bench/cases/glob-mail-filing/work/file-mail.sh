#!/bin/sh
# Move scanned letters into the folder of the year.
set -eu
year=$(cat year)

mv inbox/*.pdf "filed/$year/"
ls "filed/$year" | wc -l > filed/count
echo "there are $(cat filed/count) letters of $year"
