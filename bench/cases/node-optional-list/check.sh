set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f tags.txt; quiet node tags.js || fail "fails: $(tail -n 3 "$T/out")"
[ "$(paste -sd, tags.txt)" = "x 2,y 1" ] || fail "wrong: $(cat tags.txt)"
scene; echo '{' > articles/d.json; quiet node tags.js && fail "a broken article no longer fails"
scene; echo '{"title":"D","tags":7}' > articles/d.json; quiet node tags.js && fail "tags that are a number no longer fail"
exit 0
exit 0
