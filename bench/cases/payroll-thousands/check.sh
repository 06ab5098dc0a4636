set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same payroll.csv; scene; rm -f total.txt; quiet python3 payroll.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat total.txt)" = 16330.75 ] || fail "wrong: $(cat total.txt)"
printf 'name,gross\nIda,n/a\n' > payroll.csv; quiet python3 payroll.py && fail "an amount that is none is accepted"; true
exit 0
