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
job() { rm -f counts.txt top.txt; quiet watch bash top-pages.sh; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail
[ "$(awk '{ print $1 $2 }' top.txt | paste -sd,)" = "2/a,1/b" ] || fail "wrong: $(cat top.txt)"
scene; echo broken > logs/access.log.1.gz; job && fail "a damaged log no longer fails"
scene; rm logs/*; job && fail "no log no longer fails"
exit 0
exit 0
