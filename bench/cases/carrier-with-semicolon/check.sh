set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same parcels.txt; scene; rm -f carriers.txt; quiet python3 carriers.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, carriers.txt)" = "Bring: 2,Post: 4" ] || fail "wrong: $(paste -sd, carriers.txt)"
printf 'town;carrier;pieces\nx;Post;many\n' > parcels.txt; quiet python3 carriers.py && fail "pieces that are no number are accepted"; true
exit 0
