set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same clock.csv; scene; awk -f hours.awk clock.csv > "$T/got" 2> "$T/err" || fail "fails: $(cat "$T/err")"; [ "$(paste -sd/ "$T/got")" = "blue 8.00 2024-05-01/red 7.75 2024-05-02" ] || fail "wrong: $(paste -sd/ "$T/got")"
printf 'day;project;hours\n01.05.2024;x\n' > clock.csv; quiet awk -f hours.awk clock.csv && fail "a short line is accepted"; true
exit 0
