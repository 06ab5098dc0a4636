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
job() { quiet node limits.js; }
scene; job || fail "fails: $(tail -n 3 "$T/out")"; [ "$(cat cpu.txt)" = 4 ] || fail "wrong"
scene; echo '{"cpu": 9}' > limits.json; job || fail "fails without a mark"; [ "$(cat cpu.txt)" = 9 ] || fail "not read"
scene; echo '{"cpu": 0}' > limits.json; job && fail "no limit no longer fails"
scene; echo '{' > limits.json; job && fail "broken JSON no longer fails"; true
exit 0
