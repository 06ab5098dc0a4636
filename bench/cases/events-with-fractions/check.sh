set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same events.jsonl; scene; rm -f span.txt; quiet python3 span.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat span.txt)" = 630 ] || fail "wrong: $(cat span.txt)"
echo '{"at": "yesterday"}' > events.jsonl; quiet python3 span.py && fail "a time that is none is accepted"; true
exit 0
