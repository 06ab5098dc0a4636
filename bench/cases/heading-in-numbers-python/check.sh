set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f freight.sum; quiet python3 freight.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(cat freight.sum)" = "2 14.00" ] || fail "wrong: $(cat freight.sum)"
scene; printf 'parcel\tweight\tcost\nP1\t1.5\tfree\n' > freight.tsv; quiet python3 freight.py && fail "a bad cost no longer fails"
scene; rm freight.tsv; quiet python3 freight.py && fail "no file no longer fails"
exit 0
exit 0
