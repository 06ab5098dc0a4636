set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -rf out sums.txt; quiet bash unpack.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, sums.txt)" = "b1946ac92492d2347c6235b4d2611184 a.txt,591785b794601e212b260e25925636fd b c.txt" ] || fail "wrong: $(paste -sd, sums.txt)"
echo '***' > in/a.txt.b64; rm -rf out; quiet bash unpack.sh && fail "an attachment that is none is accepted"; true
exit 0
