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
[ -e site/keep.css ] && [ -e src/a.md ] || fail "damage"
scene; echo x > site/pages/old.html; quiet watch bash rebuild.sh || fail "fails: $(cat "$T/out")"; strict nounset
[ "$(ls site/pages)" = a.html ] && [ "$(cat site/pages/a.html)" = '<h1>A</h1>' ] || fail "wrong pages"; [ -e site/keep.css ] || fail "damage"
scene; mkdir "$T/fakebin"; printf '#!/bin/sh\necho "$@" >> "%s"\n' "$T/rm.log" > "$T/fakebin/rm"; chmod +x "$T/fakebin/rm"
echo 'pages_root=' > paths.inc; PATH="$T/fakebin:$PATH" quiet bash rebuild.sh && fail "an empty setting no longer fails"
grep -q ' /' "$T/rm.log" 2>/dev/null && fail "would delete in /"
true
exit 0
