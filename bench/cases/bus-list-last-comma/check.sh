set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same seats.mjs
scene; rm -f seats.txt; quiet node seats.mjs || fail "fails"; [ "$(paste -sd, seats.txt)" = "7 40,12 55" ] || fail wrong
scene; echo '{' > yard.json; quiet node seats.mjs && fail "half a list no longer fails"; true
exit 0
