set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
unchanged() { (cd "$CASE/work" && find . -type f) | while read -r f; do cmp -s "$CASE/work/$f" "$HEALED/$f" || { echo "$f"; break; }; done; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
strict() { local o; for o in "$@"; do tail -n 1 "$T/opts" 2>/dev/null | grep -q "$o" || fail "strict mode is off: $o"; done; }
watch() { rm -f "$T/opts"; BASH_ENV="$T/env.sh" "$@"; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
t() { scene; rm -f season.txt; echo $1 > date.txt; quiet watch bash season.sh || fail "fails for $1"; [ "$(cat season.txt)" = "$2" ] || fail "wrong for $1: $(cat season.txt)"; }
t 2030-08-09 "2030 summer 9"; t 2030-09-08 "2030 other 8"; t 2030-01-31 "2030 winter 31"; t 2030-12-01 "2030 winter 1"; strict nounset
exit 0
