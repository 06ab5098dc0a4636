set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f visits.txt; quiet python3 count_visits.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(paste -sd, visits.txt)" = "2 /a,1 /b" ] || fail "wrong: $(cat visits.txt)"
scene; rm delivery/*.gz; quiet python3 count_visits.py && fail "a missing log no longer fails"
scene; echo broken | gzip > delivery/visits.log.gz; quiet python3 count_visits.py && fail "a bad line no longer fails"
exit 0
exit 0
