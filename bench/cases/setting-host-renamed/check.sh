set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
strict() { local o; for o in "$@"; do tail -n 1 "$T/opts" 2>/dev/null | grep -q "$o" || fail "strict mode is off: $o"; done; }
watch() { rm -f "$T/opts"; BASH_ENV="$T/env.sh" "$@"; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { rm -rf queue; quiet watch bash send-report.sh; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail
[ "$(ls queue)" = stats.example ] || fail "wrong queue"
scene; sed -i 's/stats.example/other.example/' report.env; job || fail "other server"; [ "$(ls queue)" = other.example ] || fail "wrong other queue"
scene; sed -i '/SERVER=/d' report.env; job && fail "no server no longer fails"
scene; rm report.html; job && fail "no report no longer fails"
exit 0
exit 0
