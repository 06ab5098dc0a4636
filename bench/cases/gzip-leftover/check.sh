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
job() { quiet bash rotate.sh; }
scene; printf 'line 1\nline 2\n' > app.log; echo old | gzip -c > app.log.1.gz; job || fail "fails: $(cat "$T/out")"; [ "$(gzip -dc app.log.1.gz)" = "$(printf 'line 1\nline 2')" ] || fail "the archive is the old one"
[ ! -s app.log ] || fail "log not emptied"; [ ! -e app.log.1 ] || fail "left over"
scene; echo x > app.log; rm -f app.log.1.gz; job || fail "fails the first time"; [ -f app.log.1.gz ] || fail "no archive"
scene; rm app.log; job && fail "no log no longer fails"; true
exit 0
