set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet python3 owed.py; }
same statement.csv README.md
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat owed.txt)" = "$(printf 'Ada 55\nEve 20')" ] || fail "wrong"
scene; echo "4,Zoe,Ada,1" >> statement.csv; job || fail "fails"; grep -q '^Zoe 1$' owed.txt || fail "not read"
scene; printf 'day,cents\n1,5\n' > statement.csv; job && fail "a missing column no longer fails"; true
exit 0
