set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { rm -f hours.txt; quiet bash pump-alarm.sh; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat hours.txt)" = "p1 7" ] || fail "wrong: $(cat hours.txt)"
scene; echo 'p1 broken 1' >> pumps.log; job && fail "an unknown state no longer fails"
exit 0
exit 0
