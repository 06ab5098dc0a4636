set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f letters.stat; quiet python3 letters.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(cat letters.stat)" = "2 letters, longest 200001" ] || fail "wrong: $(cat letters.stat)"
scene; echo 'only,two' > letters.csv; quiet python3 letters.py && fail "a bad row no longer fails"
exit 0
exit 0
