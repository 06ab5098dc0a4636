set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet perl plan.pl; }
same station.conf docs/settings.md
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat plan.txt)" = "every 15 minutes" ] || fail "wrong"
scene; sed -i 's/= 15/= 3/' station.conf; job || fail "fails"; [ "$(cat plan.txt)" = "every 3 minutes" ] || fail "not read"
scene; sed -i '/heartbeat/d' station.conf; job && fail "no setting no longer fails"
scene; rm station.conf; job && fail "no file no longer fails"; true
exit 0
