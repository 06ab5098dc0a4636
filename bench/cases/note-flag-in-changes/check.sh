set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet bash nightly.sh; }
same tools/mailpack tools/CHANGES letters/a.txt letters/b.txt
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat count.txt)" -eq 2 ] || fail "wrong"
scene; echo three > letters/c.txt; job || fail "fails"; [ "$(cat count.txt)" -eq 3 ] || fail "not read"
scene; rm letters/*; job && fail "no letters no longer fail"
scene; echo 'exit 7' > tools/mailpack; job && fail "a failing tool no longer fails"; true
exit 0
