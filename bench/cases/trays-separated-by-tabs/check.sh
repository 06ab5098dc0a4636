set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same letters trays.conf; scene; quiet bash route.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, routes.txt)" = "a.pdf -> T1,b.pdf -> T2" ] || fail "wrong: $(paste -sd, routes.txt)"
printf 'law:a.pdf\nzoo:b.pdf\n' > letters; quiet bash route.sh && fail "a letter without a tray is accepted"
scene; rm trays.conf; quiet bash route.sh && fail "no list of trays is accepted"; true
exit 0
