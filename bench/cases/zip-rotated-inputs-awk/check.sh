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
job() { rm -f slow.txt; quiet watch bash slow-queries.sh; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail; [ "$(wc -l < slow.txt)" = 2 ] || fail wrong
scene; echo x | xz > archive/db.log.xz; job && fail "no slow query no longer fails"
exit 0
exit 0
