set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same hours.txt; scene; rm -f bill.txt; quiet bash bill.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, bill.txt)" = "ida 6.00,ole 3.00,all 9.00" ] || fail "wrong: $(paste -sd, bill.txt)"
rm hours.txt; quiet bash bill.sh && fail "missing hours are accepted"; true
exit 0
