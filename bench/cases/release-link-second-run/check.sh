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
job() { quiet bash publish.sh; }
scene; rm -f current; ln -s releases/1.4.1 current; job || fail "fails: $(cat "$T/out")"
[ "$(readlink current)" = releases/1.4.2 ] && [ "$(cat current/index.html)" = "<p>new</p>" ] || fail "not published"
job || fail "fails the second time"; [ ! -e releases/1.4.2/1.4.2 ] || fail "a link in the release"
scene; rm -rf releases current; mkdir releases; job || fail "fails at first"; [ -f current/index.html ] || fail "not there"
scene; rm -rf releases/1.4.2; echo x > releases/1.4.2; job && fail "a file in the way no longer fails"
scene; rm site/index.html; job && fail "an empty site no longer fails"
exit 0
