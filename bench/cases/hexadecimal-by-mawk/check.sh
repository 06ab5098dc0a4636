set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same readings; scene; rm -f sum.txt; quiet sh sum.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat sum.txt)" = 265 ] || fail "wrong: $(cat sum.txt)"
rm readings; quiet sh sum.sh && fail "missing readings are accepted"; true
exit 0
