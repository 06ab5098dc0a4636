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
same grades.csv
scene; quiet node grades.js || fail "fails: $(grep -m1 Error "$T/out")"
[ "$(paste -sd/ grades.txt)" = "7a 2.00/7b 3.00" ] || fail "wrong: $(paste -sd/ grades.txt)"
scene; printf '8c;Max;keine\r\n' >> grades.csv; quiet node grades.js && fail "a line without a grade no longer fails"
scene; printf '\xef\xbb\xbfclass;pupil;mark\r\n7a;x;1,5\r\n' > grades.csv; quiet node grades.js && fail "a missing column no longer fails"
exit 0
