set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same probes.csv; scene; rm -f means.txt; quiet sh means.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, means.txt)" = "cellar 11.75 12.0,roof 20.00 20.8" ] || fail "wrong: $(paste -sd, means.txt)"
printf 'time;probe;degrees\n1;a;1,5\n2;a;2,5\n' > probes.csv; quiet sh means.sh || fail "fails on another export"; [ "$(cat means.txt)" = "a 2.00 2.5" ] || fail "wrong: $(cat means.txt)"
printf 'time;probe;degrees\n1;a\n' > probes.csv; quiet sh means.sh && fail "a short line is accepted"; true
exit 0
