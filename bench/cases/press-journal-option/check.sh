set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f printed.txt; quiet python3 press.py || fail "fails: $(tail -n1 "$T/out")"
[ "$(cat printed.txt)" = "printed 12" ] || fail wrong
printf '[press]\ncopies = 12\n' > press.ini; quiet python3 press.py && fail "a missing setting no longer fails"; true
exit 0
