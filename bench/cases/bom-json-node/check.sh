set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
unchanged() { (cd "$CASE/work" && find . -type f) | while read -r f; do cmp -s "$CASE/work/$f" "$HEALED/$f" || { echo "$f"; break; }; done; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
strict() { local o; for o in "$@"; do tail -n 1 "$T/opts" 2>/dev/null | grep -q "$o" || fail "strict mode is off: $o"; done; }
watch() { rm -f "$T/opts"; BASH_ENV="$T/env.sh" "$@"; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f prices.txt; quiet node price.js || fail "fails: $(tail -n 5 "$T/out")"; [ "$(paste -sd, prices.txt)" = "a;1.20,b;0.05" ] || fail wrong
printf '[{"sku": "z", "cents": 1}]' > prices.json; quiet node price.js || fail "fails without a mark"; [ "$(cat prices.txt)" = "z;0.01" ] || fail wrong
echo '[{' > prices.json; quiet node price.js && fail "broken JSON no longer fails"
echo '[{"sku":"q"}]' > prices.json; quiet node price.js && fail "no price no longer fails"; true
exit 0
