set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same words.json names.json; scene; rm -f greeting.txt; quiet node greet.mjs || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat greeting.txt)" = "Hej, Ida and Ole" ] || fail wrong
rm names.json; quiet node greet.mjs && fail "missing names are accepted"; true
exit 0
