set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f last.txt; quiet python3 tides.py || fail "fails: $(tail -n1 "$T/out")"
[ "$(cat last.txt)" = 2024-03-01T12:30:00Z ] || fail wrong
echo "2024-03-01T13:20:00+01:00,90" >> tides.csv; quiet python3 tides.py && fail "an earlier time no longer fails"
printf '2024-03-01T12:40:00+01:00,1\n2024-03-01T12:00:00Z,2\n' > tides.csv; quiet python3 tides.py || fail "an offset is not reckoned"
echo "noon,1" > tides.csv; quiet python3 tides.py && fail "no time no longer fails"; true
exit 0
