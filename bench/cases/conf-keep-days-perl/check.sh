set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f dumps/*; touch dumps/{1,2,3,4}.dump; quiet perl prune.pl || fail "fails: $(tail -n 1 "$T/out")"
[ "$(ls dumps | paste -sd,)" = 3.dump,4.dump ] || fail "wrong dumps removed"
scene; echo 'keep_days = many' > prune.conf; quiet perl prune.pl && fail "a bad number no longer fails"
scene; echo 'dumps = dumps' > prune.conf; quiet perl prune.pl && fail "no setting no longer fails"
exit 0
exit 0
