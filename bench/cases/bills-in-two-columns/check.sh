set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet python3 took.py; }
scene; rm -f took.txt; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, took.txt)" = "ann 26.50,bo 10.05" ] || fail "wrong: $(paste -sd, took.txt)"
python3 -c 'import sqlite3; d = sqlite3.connect("bills.db"); d.execute("UPDATE bills SET tip_cents = 0"); d.commit()'; job || fail "fails on other bills"
[ "$(paste -sd, took.txt)" = "ann 24.00,bo 10.00" ] || fail "wrong on other bills"
rm bills.db; job && fail "no database no longer fails"
exit 0
