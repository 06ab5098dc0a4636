set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same bin/query.py fees.sh
scene; rm -f fees.csv; quiet bash fees.sh || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, fees.csv)" = "m1;30,m2;7" ] || fail "wrong: $(cat fees.csv)"
rm members.db; quiet bash fees.sh && fail "no database no longer fails"; true
exit 0
