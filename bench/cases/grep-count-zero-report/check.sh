set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f report.txt; quiet sh errors-report.sh || fail "fails: $(cat "$T/out")"; [ "$(paste -sd, report.txt)" = "a.log 1,b.log 0" ] || fail "wrong: $(cat report.txt)"
scene; mkdir logs/c.log; quiet sh errors-report.sh && fail "an unreadable log no longer fails"
exit 0
exit 0
