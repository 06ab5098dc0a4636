set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f state-*; echo 1 > state-1.json; quiet python3 keep_snapshots.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat state-2.json)" = 1 ] && [ "$(cat state-1.json)" = '{}' ] || fail "not kept"
scene; rm -f state-*; for i in 1 2 3 4 5; do echo $i > state-$i.json; done; quiet python3 keep_snapshots.py || fail "fails with five"; [ "$(cat state-5.json)" = 4 ] || fail "wrong generations"
scene; rm state.json; quiet python3 keep_snapshots.py && fail "no state no longer fails"
exit 0
exit 0
