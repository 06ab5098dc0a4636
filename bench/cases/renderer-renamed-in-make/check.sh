set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -rf site; quiet make -s site || fail "fails: $(tail -n 1 "$T/out")"
[ "$(cat site/a.html)" = "<p>alpha</p>" ] && [ "$(cat site/b.html)" = "<p>beta</p>" ] || fail wrong
scene; rm -rf site; : > src/c.txt; quiet make -s site && fail "an empty page no longer fails"
exit 0
exit 0
