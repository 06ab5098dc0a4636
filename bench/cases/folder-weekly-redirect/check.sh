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
scene; rm -rf reports; quiet watch bash weekly.sh 2029-W07 || fail "fails: $(cat "$T/out")"; strict errexit nounset
[ "$(cat reports/2029/2029-W07/summary.txt)" = "$(printf 'week 2029-W07\ntotal 42')" ] || fail "wrong report"
cmp -s in/2029-W07.txt reports/2029/2029-W07/2029-W07.txt || fail "not copied"
quiet bash weekly.sh 2029-W07 || fail "second run fails"
scene; quiet bash weekly.sh 2029-W08 && fail "a missing week no longer fails"
scene; rm -rf reports; echo x > reports; quiet bash weekly.sh 2029-W07 && fail "a file in the way no longer fails"
exit 0
