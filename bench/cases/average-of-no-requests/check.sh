set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet bash stats.sh; }
scene; job || fail "fails: $(cat "$T/out")"; [ "$(cat means.txt)" = "$(printf '09 100\n10 0\n11 50')" ] || fail "wrong: $(cat means.txt)"
scene; echo abc > hours/12.log; job || true; scene; rm -rf hours; job && fail "no hours no longer fail"; true
exit 0
