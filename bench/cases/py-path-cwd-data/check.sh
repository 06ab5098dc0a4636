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
scene; rm -f app/summary.txt; S=$PWD; quiet python3 app/summary.py || fail "fails: $(tail -n1 "$T/out")"; rm -f app/summary.txt; (cd / && quiet python3 "$S/app/summary.py") || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat app/summary.txt)" = "3 items" ] || fail "wrong, or elsewhere"
rm app/data/items.json; (cd / && quiet python3 "$S/app/summary.py") && fail "missing items no longer fail"; true
exit 0
