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
export CLOCK=00:00:01
scene; rm -rf var; quiet watch bash import.sh || fail "fails: $(cat "$T/out")"; strict errexit pipefail
[ "$(cat var/log/import/import.log)" = "$(printf '00:00:01 start\n00:00:01 pieces 7')" ] || fail "wrong log"
scene; echo 'a,x' > stock.csv; quiet bash import.sh && fail "a bad quantity no longer fails"
scene; rm stock.csv; quiet bash import.sh && fail "missing stock no longer fails"
scene; rm -rf var; mkdir -p var; echo x > var/log; quiet bash import.sh && fail "a log that cannot be written no longer fails"
exit 0
