set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f status.txt; quiet python3 status.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, status.txt)" = "200 2,404 1" ] || fail "wrong: $(paste -sd, status.txt)"
echo x > logs/c.gz; quiet python3 status.py && fail "a log that is not compressed is accepted"; true
exit 0
