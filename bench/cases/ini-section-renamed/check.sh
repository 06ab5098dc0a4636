set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -rf in old; mkdir in; echo x > in/2029-01-01-x.eml; echo y > in/2032-01-01-y.eml; quiet python3 archive_mail.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(ls in)" = 2032-01-01-y.eml ] && [ "$(ls old)" = 2029-01-01-x.eml ] || fail "wrong files moved"
scene; sed -i 's/archive = old//' mail.ini; quiet python3 archive_mail.py && fail "a missing setting no longer fails"
scene; rm mail.ini; quiet python3 archive_mail.py && fail "missing settings no longer fail"
exit 0
exit 0
