set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f index.txt; quiet python3 index.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd/ index.txt)" = "leek: Soup, Pie/salt: Pie" ] || fail "wrong: $(cat index.txt)"
scene; echo '[{"extras":["x"]}]' > recipes.json; quiet python3 index.py && fail "a recipe without a title no longer fails"
exit 0
exit 0
