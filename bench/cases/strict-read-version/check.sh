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
scene; rm -f tag.txt; quiet watch bash tag.sh || fail "fails: $(cat "$T/out")"; strict errexit nounset; [ "$(cat tag.txt)" = v4.12 ] || fail wrong
echo "5 1" > VERSION; quiet bash tag.sh; [ "$(cat tag.txt)" = v5.1 ] || fail "fails with a newline"
rm -f VERSION tag.txt; quiet bash tag.sh && fail "no version no longer fails"
: > VERSION; quiet bash tag.sh && fail "an empty version no longer fails"; true
exit 0
