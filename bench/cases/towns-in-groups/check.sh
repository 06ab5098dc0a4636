set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same towns.tsv; scene; rm -f people.txt; quiet python3 people.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat people.txt)" = 9062642 ] || fail "wrong: $(cat people.txt)"
printf 'x\tmany\n' > towns.tsv; quiet python3 people.py && fail "a count that is none is accepted"; true
exit 0
