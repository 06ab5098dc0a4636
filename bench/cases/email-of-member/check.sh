set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f mailing.csv; quiet python3 mailing.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd/ mailing.csv)" = "11,b@x,pro/12,a@x,team" ] || fail "wrong: $(paste -sd/ mailing.csv)"
rm members.sqlite; quiet python3 mailing.py && fail "a missing database no longer fails"; true
exit 0
