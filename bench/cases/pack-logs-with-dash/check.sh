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
fill() { rm -rf logs; mkdir logs; echo w > logs/-web.log; echo d > logs/db.log; }
scene; fill; quiet watch bash pack-logs.sh || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail
[ "$(ls logs | paste -sd,)" = "-web.log.gz,db.log.gz" ] || [ "$(LC_ALL=C ls logs | paste -sd,)" = "-web.log.gz,db.log.gz" ] || fail "wrong: $(ls logs)"
scene; rm -rf logs; mkdir logs; quiet bash pack-logs.sh && fail "no logs no longer fails"
exit 0
exit 0
