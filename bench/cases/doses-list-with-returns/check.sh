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
scene; quiet bash doses.sh || fail "fails: $(tail -n 1 "$T/out")"
[ "$(paste -sd/ doses.txt)" = "anna 20/jon 50" ] || fail "wrong: $(paste -sd/ doses.txt)"
scene; printf 'eva 5\n' > doses.lst; quiet bash doses.sh && [ "$(cat doses.txt)" = "eva 10" ] || fail "fails for a plain list"
scene; rm doses.lst; quiet bash doses.sh && fail "a missing list no longer fails"
exit 0
