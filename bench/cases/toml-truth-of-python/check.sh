set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f active.txt; quiet python3 active.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat active.txt)" = "AB 1 North" ] || fail "wrong: $(cat active.txt)"
echo '[' > fleet.toml; quiet python3 active.py && fail "broken settings are accepted"; true
exit 0
