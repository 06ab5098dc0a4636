set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same head.txt a.md; scene; rm -rf public; quiet make || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, public/b.html)" = "<h1>,two" ] || fail wrong
quiet make clean; quiet make || fail "fails after make clean"
rm head.txt; quiet make clean; quiet make && fail "a missing head is accepted"; true
exit 0
