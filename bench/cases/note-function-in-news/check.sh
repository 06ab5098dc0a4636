set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet python3 total.py; }
same ledgerkit/__init__.py ledger.txt
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat total.txt)" = 9 ] || fail "wrong"
scene; echo "d 6 booked" >> ledger.txt; job || fail "fails"; [ "$(cat total.txt)" = 15 ] || fail "not read"
scene; rm ledger.txt; job && fail "no ledger no longer fails"; true
exit 0
