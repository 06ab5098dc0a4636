set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same answer.json; scene; rm -f fees.csv; quiet python3 fees.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, fees.csv)" = "7;Ida;32.50,9;Ole;15.00" ] || fail "wrong: $(paste -sd, fees.csv)"
echo '{"members": [{"member_no": 1, "full_name": "B", "locker_fee_cents": 5}]}' > answer.json; quiet python3 fees.py && fail "a member without a fee is accepted"; true
exit 0
