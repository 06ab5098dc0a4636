set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f opened.txt; quiet bash opened.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, opened.txt)" = "east,south" ] || fail "wrong: $(paste -sd, opened.txt)"
echo 2024-05-01 > day; quiet bash opened.sh || fail "fails for another day"; [ "$(cat opened.txt)" = north ] || fail "wrong for another day"
echo 2024-05-09 > day; quiet bash opened.sh && fail "a day without events is accepted"; true
exit 0
