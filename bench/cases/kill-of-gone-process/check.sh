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
job() { quiet watch bash restart-worker.sh; }
scene; echo 4194300 > worker.pid; job || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail
[ "$(cat worker.state)" = up ] && [ ! -e worker.pid ] || fail "not restarted"
scene; sleep 50 & p=$!; echo $p > worker.pid; job || fail "fails with a live worker"; sleep 0.2; kill -0 $p 2>/dev/null && fail "the live worker was not stopped"
scene; rm settings; job && fail "a worker that does not start no longer fails"
exit 0
exit 0
