set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same cart.json; scene; rm -f invoice.txt; quiet python3 invoice.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat invoice.txt)" = 49.80 ] || fail "wrong: $(cat invoice.txt)"
echo '{"positions": []}' > cart.json; quiet python3 invoice.py && fail "a cart without shipping is accepted"; true
exit 0
