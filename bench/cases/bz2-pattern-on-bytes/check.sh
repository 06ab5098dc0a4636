set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f methods.txt; quiet python3 methods.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, methods.txt)" = "GET 2,POST 1" ] || fail "wrong: $(paste -sd, methods.txt)"
echo x > access.log.bz2; quiet python3 methods.py && fail "a log that is not compressed is accepted"; true
exit 0
