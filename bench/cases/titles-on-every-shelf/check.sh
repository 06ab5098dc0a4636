set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f shelves.txt; quiet python3 shelves.py || fail "fails: $(tail -n1 "$T/out")"
[ "$(tr '\n' '|' < shelves.txt)" = "a Tides|b Dunes, Reeds|c |" ] || fail "wrong: $(cat shelves.txt)"
echo 4 > count.txt; quiet python3 shelves.py && fail "another count no longer fails"; true
exit 0
