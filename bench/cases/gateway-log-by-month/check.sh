set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f errors.txt; quiet bash errors.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, errors.txt)" = "2024-05-01 2,2024-05-03 1" ] || fail "wrong: $(paste -sd, errors.txt)"
echo 2024-04 > month; quiet bash errors.sh || fail "fails for another month"; [ "$(cat errors.txt)" = "2024-04-30 1" ] || fail "wrong for another month"
echo 2024-03 > month; rm -f errors.txt; quiet bash errors.sh && fail "a month without a log is accepted"; true
exit 0
