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
job() { quiet python3 prune.py; }
left() { (cd dumps && echo *.dump); }
scene; rm -f dumps/*; touch dumps/2026-04-0{1,2,3,4}.dump; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(left)" = "2026-04-03.dump 2026-04-04.dump" ] || fail "keeps: $(left)"
scene; rm -f dumps/*; touch dumps/2026-04-0{1,2,3,4}.dump; sed -i 's/^keep = .*/keep = 3/' prune.ini; job || fail "fails"; [ "$(left)" = "2026-04-02.dump 2026-04-03.dump 2026-04-04.dump" ] || fail "keeps: $(left)"
scene; rm -f dumps/*; touch dumps/a.dump; sed -i 's/^keep = .*/keep = many/' prune.ini; job && fail "a wrong number no longer fails"; [ -e dumps/a.dump ] || fail "removed with a wrong number"
same prune.ini
exit 0
