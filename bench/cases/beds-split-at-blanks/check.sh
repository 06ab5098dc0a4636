set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f nights.txt; quiet bash beds.sh || fail "fails: $(tail -n1 "$T/out")"
[ "$(tr '\n' '|' < nights.txt)" = "hill 3|lake 4|" ] || fail "wrong: $(cat nights.txt)"
echo "lake;Cy Orr;many" >> beds.txt; quiet bash beds.sh && fail "no number no longer fails"; true
exit 0
