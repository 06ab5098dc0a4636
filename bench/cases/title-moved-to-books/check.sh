set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f overdue.txt; quiet python3 overdue.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, overdue.txt)" = "2024-05-01 Emma,2024-05-20 Dune" ] || fail "wrong: $(paste -sd, overdue.txt)"
rm library.db; quiet python3 overdue.py && fail "a missing database no longer fails"; true
exit 0
