set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f sums.txt; quiet python3 rainfall.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, sums.txt)" = "2031-01 10,2031-02 1" ] || fail "wrong: $(cat sums.txt)"
scene; printf 'date,station,mm\n2031-01-01,hill,wet\n' > rain.csv; quiet python3 rainfall.py && fail "a wrong reading no longer fails"
exit 0
exit 0
