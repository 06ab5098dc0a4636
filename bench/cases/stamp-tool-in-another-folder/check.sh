set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same pages/a.txt
scene; rm -rf out; quiet make -s all || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat out/a.txt out/b.txt | paste -sd,)" = "paid: one,paid: two" ] || fail wrong
scene; rm -rf out; : > pages/b.txt; quiet make -s all && fail "an empty page no longer fails"
scene; rm -rf out tools; quiet make -s all && fail "no tool no longer fails"
exit 0
