set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f display.txt; quiet python3 weather.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat display.txt)" = "rain: 4 to 9 degrees" ] || fail wrong
scene; echo '{"days":[]}' > forecast.json; quiet python3 weather.py && fail "no forecast no longer fails"
exit 0
exit 0
