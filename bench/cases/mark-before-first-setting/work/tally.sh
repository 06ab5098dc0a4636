LIST=words
set -eu
cd "$(dirname "$0")"
sort "$LIST" | uniq -c | awk '{print $2, $1}' > tally.new
test -s tally.new
mv tally.new tally
