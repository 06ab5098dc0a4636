set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet bash east.sh; }
same lib/stocks west.sh desks/east
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat east.txt)" = "E 1" ] || fail "wrong"
scene; echo "E 9" > desks/east; job || fail "fails"; [ "$(cat east.txt)" = "E 9" ] || fail "not read"
scene; rm desks/east; job && fail "no desk no longer fails"; true
exit 0
