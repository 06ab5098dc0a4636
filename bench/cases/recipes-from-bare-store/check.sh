set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -rf recipes recipes.version; quiet bash unpack.sh || fail "fails: $(tail -n1 "$T/out")"
[ "$(cat recipes/soup.txt recipes.version)" = "leek
second" ] || fail wrong
rm -rf kitchen.git; quiet bash unpack.sh && fail "a missing store no longer fails"; true
exit 0
