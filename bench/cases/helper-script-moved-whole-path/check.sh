set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f dead.txt; quiet bash weekly.sh || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat dead.txt)" = /b ] || fail wrong
scene; echo nonsense > pages.lst; quiet bash weekly.sh && fail "a line that is none no longer fails"
scene; rm -rf lib; quiet bash weekly.sh && fail "no helper no longer fails"; true
exit 0
