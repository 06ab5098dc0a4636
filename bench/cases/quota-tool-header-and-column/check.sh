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
job() { rm -f mail.txt; quiet watch bash quota-mail.sh; }
cmp -s bin/quotas "$CASE/work/bin/quotas" || fail "the tool was edited"
scene; job || fail "fails: $(tail -n 1 "$T/out")"; strict errexit nounset pipefail
[ "$(paste -sd, mail.txt)" = "anna: 85 %,cleo: 95 %" ] || fail "wrong: $(cat mail.txt)"
scene; echo 'dora staff 81 100' > quotas.dat; job || fail others; [ "$(cat mail.txt)" = "dora: 81 %" ] || fail "wrong others"
scene; echo 'x y z' > quotas.dat; job && fail "damaged data no longer fail"
exit 0
exit 0
