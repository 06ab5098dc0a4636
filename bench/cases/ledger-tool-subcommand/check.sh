set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
strict() { local o; for o in "$@"; do tail -n 1 "$T/opts" 2>/dev/null | grep -q "$o" || fail "strict mode is off: $o"; done; }
watch() { rm -f "$T/opts"; BASH_ENV="$T/env.sh" "$@"; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet watch bash close-month.sh; }
scene; rm -rf closed; job || fail "fails: $(tail -n 2 "$T/out")"
strict errexit nounset pipefail
[ "$(cat closed/balances)" = "2031-04 220" ] || fail "wrong balance"
[ "$(gzip -dc closed/2031-04.txt.gz | head -n 1)" = "rent -500" ] || fail "not packed"
scene; rm -rf closed; echo broken > books.db; job && fail "a broken ledger no longer fails"
[ "$(cat "$HEALED/books.db")" = "$(cat "$CASE/work/books.db")" ] || fail "books were changed"
exit 0
