set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet sh highest.sh; }
same etc/site.env readings.txt
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(tail -n 1 shared/sorted.txt)" = 19 ] || fail "wrong"
scene; echo 88 >> readings.txt; job || fail "fails"; [ "$(tail -n 1 shared/sorted.txt)" = 88 ] || fail "not read"
scene; sed -i '/SHARED_TREE/d' etc/site.env; job && fail "no variable no longer fails"
scene; rm -r shared; job && fail "no folder no longer fails"; true
exit 0
