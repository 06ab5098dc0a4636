set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same rentals.csv; scene; rm -f late.txt; quiet python3 late.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, late.txt)" = "2024-04-30 B3,2024-05-12 B1" ] || fail "wrong: $(paste -sd, late.txt)"
printf 'bike;back\nB1;soon\n' > rentals.csv; quiet python3 late.py && fail "a date that is none is accepted"; true
exit 0
