set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f payout.tsv; quiet python3 payout.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(cat payout.tsv)" = "$(printf 'ali\t63.00\nbea\t126.00')" ] || fail "wrong: $(cat payout.tsv)"
scene; echo '[{"id":1,"worker":"x","hours":1,"status":"lost"}]' > jobs.json; quiet python3 payout.py && fail "an unknown status no longer fails"
scene; echo '[{"id":1,"worker":"x","hours":1,"status":"open"}]' > jobs.json; quiet python3 payout.py && fail "nobody worked no longer fails"
exit 0
exit 0
