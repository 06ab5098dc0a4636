set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same guests.csv; scene; rm -f tables.txt; quiet python3 tables.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd/ tables.txt)" = "1: Ida (fish); Per (meat)/2: Berg, Ole (none)" ] || fail "wrong: $(paste -sd/ tables.txt)"
printf 'name,table,menu\nIda,1\n' > guests.csv; quiet python3 tables.py && fail "a short line is accepted"; true
exit 0
