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
job() { quiet watch bash pack.sh; }
scene; rm -rf vault packed.txt; job || fail "fails: $(tail -n 3 "$T/out")"
strict errexit nounset pipefail
[ "$(gzip -dc 'vault/north/b c.wav.gz')" = bb ] && [ "$(gzip -dc vault/north/a.wav.gz)" = aa ] || fail "not packed"
[ "$(find vault -type f | wc -l)" = 2 ] || fail "more was packed than there is"
[ "$(cat packed.txt)" = "$(printf 'north a.wav\nnorth b c.wav')" ] || fail "wrong list"
scene; rm -rf vault; echo z > stations/south/z.wav; job || fail "fails with a full south"
[ "$(gzip -dc vault/south/z.wav.gz)" = z ] || fail "south not packed"
scene; rm -rf vault; mkdir stations/south/dir.wav; job && fail "what gzip cannot read no longer fails the job"
scene; rm -rf vault stations/south; job && fail "a missing station no longer fails the job"
exit 0
