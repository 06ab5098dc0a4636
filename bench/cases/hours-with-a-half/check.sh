set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f week.txt; quiet sh total.sh || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat week.txt)" = "40.25 needs a signature" ] || fail "wrong: $(cat week.txt)"
scene; printf 'mon 8.5\ntue 8\n' > hours.txt; quiet sh total.sh || fail "fails"; [ "$(cat week.txt)" = 16.5 ] || fail "wrong on other hours: $(cat week.txt)"
scene; echo 'mon ill' > hours.txt; quiet sh total.sh && fail "a word for hours no longer fails"
exit 0
