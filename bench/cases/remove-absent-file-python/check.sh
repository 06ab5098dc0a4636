set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f export.*; echo new > export.csv; echo one > export.1; quiet python3 rotate.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(cat export.1)" = new ] && [ "$(cat export.2)" = one ] || fail "not rotated"
echo newer > export.csv; quiet python3 rotate.py || fail second; echo newest > export.csv; quiet python3 rotate.py || fail third
[ "$(cat export.1 export.2 export.3 | paste -sd,)" = "newest,newer,new" ] || fail "wrong generations"
scene; rm -f export.csv; quiet python3 rotate.py && fail "no export no longer fails"
exit 0
exit 0
