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
job() { rm -rf var readers.txt; quiet watch bash import.sh; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail; [ "$(paste -sd, readers.txt)" = ann,bo ] || fail "wrong"
[ -z "$(ls var/work)" ] || fail "something was left in the work area"
scene; : > incoming/readers.txt; job && fail "an empty list no longer fails"
scene; rm -rf var readers.txt; echo x > var; quiet bash import.sh && fail "a file in the way no longer fails"
exit 0
exit 0
