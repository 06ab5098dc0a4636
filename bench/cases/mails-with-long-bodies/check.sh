set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f digest.txt; quiet python3 digest.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, digest.txt)" = "anna 5,bert 150000" ] || fail "wrong: $(cut -c1-80 digest.txt)"
scene; echo 'from,body' > mails.csv; quiet python3 digest.py && fail "no mails no longer fails"
exit 0
exit 0
