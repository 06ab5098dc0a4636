set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet python3 weather.py; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat mean.txt)" = "$(printf 'hill 6.0\nlake -')" ] || fail "wrong: $(cat mean.txt)"
scene; echo "06,warm" > stations/lake.csv; job && fail "a wrong reading no longer fails"; true
exit 0
