set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
rm -rf "$T/w"; cp -a "$CASE/work" "$T/w"; cp archive.sh "$T/w"; cd "$T/w"; quiet bash archive.sh || fail "fails: $(tail -n1 "$T/out")"; [ -f archive/2024-05-02/a.msg ] && [ -f archive/2024-05-02/b.msg ] && [ ! -e inbox/a.msg ] || fail "not archived"
echo x > inbox/c.msg; quiet bash archive.sh || fail "fails the second time"; [ -f archive/2024-05-02/c.msg ] || fail "one message was not put into the folder"; true
exit 0
