set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet node parcels.js; }
same answer.json api.md
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat weights.txt)" = "$(printf 'a 3\nb 5')" ] || fail "wrong"
scene; echo '{"shipments": [{"id": "q", "weight": 1}], "returns": []}' > answer.json; job || fail "fails"; [ "$(cat weights.txt)" = "q 1" ] || fail "not read"
scene; echo '{"returns": []}' > answer.json; job && fail "no list no longer fails"; true
exit 0
