set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f sheets.txt; quiet python3 sheets.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, sheets.txt)" = "Al | Bo | Cy,Di" ] || fail "wrong: $(cat sheets.txt)"
LABELS_PER_SHEET=2 quiet python3 sheets.py || fail "fails with a setting"; [ "$(paste -sd, sheets.txt)" = "Al | Bo,Cy | Di" ] || fail "the setting is not looked at"
LABELS_PER_SHEET=few quiet python3 sheets.py && fail "a word for a number no longer fails"
rm addresses.txt; quiet python3 sheets.py && fail "no addresses no longer fail"; true
exit 0
