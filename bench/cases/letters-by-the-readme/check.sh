set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet env -u OUTGOING -u MAX_LINES "$@" sh pack.sh; }
scene; rm -rf var; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, var/outgoing/a.txt)" = 1,2 ] && [ "$(cat var/outgoing/b.txt)" = 1 ] || fail wrong
job OUTGOING=other MAX_LINES=1 || fail "fails with settings"; [ "$(cat other/a.txt)" = 1 ] || fail "settings are not looked at"
rm -r letters; job && fail "no letters no longer fail"; true
exit 0
