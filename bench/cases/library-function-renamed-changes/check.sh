set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
cmp -s office/money.py "$CASE/work/office/money.py" || fail "the library was edited"
scene; rm -f bill.txt; quiet python3 bill.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat bill.txt)" = "23.50 EUR" ] || fail wrong
scene; echo 'pen x' > items.txt; quiet python3 bill.py && fail "a bad price no longer fails"
exit 0
exit 0
