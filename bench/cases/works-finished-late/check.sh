set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f late.txt; quiet python3 late.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, late.txt)" = "1 6,3 9" ] || fail "wrong: $(cat late.txt)"
rm works.sqlite; quiet python3 late.py && fail "no database no longer fails"; true
exit 0
