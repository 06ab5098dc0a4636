set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f levels.txt; quiet python3 levels.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, levels.txt)" = "east 2.00,west -" ] || fail "wrong: $(cat levels.txt)"
scene; echo high > gauges/west; quiet python3 levels.py && fail "a word for a level no longer fails"
scene; rm -r gauges; quiet python3 levels.py && fail "no gauges no longer fail"; true
exit 0
