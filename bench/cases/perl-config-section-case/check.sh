set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f alert.txt; quiet perl alert.pl || fail "fails: $(tail -n 1 "$T/out")"; [ "$(head -n 1 alert.txt)" = "To: desk@example" ] || fail "wrong: $(cat alert.txt)"
scene; echo 'threshold: 1' > alert.conf; quiet perl alert.pl && fail "no recipient no longer fails"
exit 0
exit 0
