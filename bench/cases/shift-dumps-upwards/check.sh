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
job() { quiet sh shift.sh; }
scene; rm -f dump.?; echo mon > dump.1; echo sun > dump.2; job || fail "fails: $(cat "$T/out")"
[ "$(cat dump.1 dump.2 dump.3 | tr '\n' ' ')" = "today mon sun " ] || fail "wrong: $(cat dump.?)"
scene; rm -f dump.?; job || fail "fails at first"; [ "$(cat dump.1)" = today ] || fail "wrong at first"
scene; rm new.dump; job && fail "no dump no longer fails"; true
exit 0
