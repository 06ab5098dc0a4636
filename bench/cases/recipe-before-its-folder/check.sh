set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same a.in b.in; scene; rm -rf build; quiet make -j4 || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, build/report.txt)" = "ONE,TWO" ] || fail wrong
quiet make -j4 || fail "fails the second time"
rm -rf build b.in; quiet make -j4 && fail "a missing source is accepted"; true
exit 0
