set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet python3 left.py; }
scene; rm -f left.txt; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat left.txt)" = 2 ] || fail "wrong: $(cat left.txt)"
echo 1714700000 > since.txt; job || fail "fails on another moment"; [ "$(cat left.txt)" = 1 ] || fail "wrong on another moment: $(cat left.txt)"
echo 0 > since.txt; job; [ "$(cat left.txt)" = 3 ] || fail "wrong from the beginning"
rm parcels.db; job && fail "no database no longer fails"
exit 0
