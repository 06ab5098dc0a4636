set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f overdue.txt; quiet python3 overdue.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, overdue.txt)" = "ann: Moss" ] || fail "wrong: $(cat overdue.txt)"
TODAY=2031-05-01 quiet python3 overdue.py || fail later; [ "$(wc -l < overdue.txt)" = 2 ] || fail "wrong later"
exit 0
exit 0
