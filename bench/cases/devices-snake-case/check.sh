set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f inventory.csv; quiet node inventory.mjs || fail "fails: $(tail -n 3 "$T/out")"
[ "$(paste -sd/ inventory.csv)" = "serial,building,room,owner/S1,A,3,office/S2,B,12,lab" ] || fail "wrong: $(paste -sd/ inventory.csv)"
scene; echo '[{"owner":"x"}]' > assets.json; quiet node inventory.mjs && fail "an asset without a room no longer fails"
exit 0
exit 0
