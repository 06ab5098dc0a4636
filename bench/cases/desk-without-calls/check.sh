set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f means.txt; quiet python3 means.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, means.txt)" = "a 15,b 4,c -1" ] || fail "wrong: $(cat means.txt)"
scene; echo 'a,long' >> calls.csv; quiet python3 means.py && fail "a word for minutes no longer fails"; true
exit 0
