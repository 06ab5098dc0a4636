set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same guests; scene; rm -f badges; quiet bash badges.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd/ badges)" = "Berg, Ida:3/Holm, Ole:5" ] || fail "wrong: $(paste -sd/ badges)"
rm guests; quiet bash badges.sh && fail "missing guests are accepted"; true
exit 0
