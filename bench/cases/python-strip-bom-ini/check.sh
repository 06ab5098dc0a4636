set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f list.txt; quiet python3 printers.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, list.txt)" = "hall p1,desk p2" ] || fail wrong
scene; printf '[x]\n' > printers.ini; quiet python3 printers.py && fail "no host no longer fails"
exit 0
exit 0
