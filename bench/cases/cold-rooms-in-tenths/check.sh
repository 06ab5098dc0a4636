set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f warm.txt; quiet bash warm.sh || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, warm.txt)" = "meat 0.25,herbs 3" ] || fail "wrong: $(paste -sd, warm.txt)"
scene; printf 'a 2.5\nb warm\n' > rooms.txt; quiet bash warm.sh && fail "a word for a temperature no longer fails"
scene; rm rooms.txt; quiet bash warm.sh && fail "no rooms no longer fails"
exit 0
