set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same parcels countries.lst; scene; quiet sh label.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, labels.txt)" = "P1 Denmark,P2 Norway" ] || fail "wrong: $(paste -sd, labels.txt)"
echo 'zz P9' > parcels; quiet sh label.sh && fail "an unknown country is accepted"; true
exit 0
