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
job() { quiet sh file-mail.sh; }
scene; rm -rf filed/2031; job || fail "fails with an empty inbox: $(cat "$T/out")"
[ "$(cat filed/count | tr -d ' ')" = 0 ] || fail "wrong count"; [ -z "$(ls filed/2031)" ] || fail "something filed"
scene; rm -rf filed/2031; echo 1 > 'inbox/a b.pdf'; echo 2 > inbox/c.pdf; job || fail "fails with letters"
[ "$(ls filed/2031 | wc -l)" = 2 ] && [ "$(ls inbox)" = README ] || fail "not filed"
scene; rm -rf filed/2031 inbox; job && fail "a missing inbox no longer fails"
scene; rm -rf filed/2031; echo f > filed/2031; echo 1 > inbox/a.pdf; job && fail "a file in the way no longer fails"
scene; rm year; job && fail "a missing year no longer fails"
exit 0
