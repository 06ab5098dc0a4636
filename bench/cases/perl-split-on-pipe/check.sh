set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f routes.txt; quiet perl routes.pl || fail "fails: $(tail -n 1 "$T/out")"
[ "$(tail -n 1 routes.txt)" = "office   via 10.1.0.1 (20)" ] || fail "wrong: $(cat routes.txt)"
scene; echo 'a|b' > routes.dat; quiet perl routes.pl && fail "two fields no longer fail"
exit 0
exit 0
