set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet env -u HOME -u EMAIL GIT_CONFIG_NOSYSTEM=1 bash keep.sh; }
scene; rm -rf conf/.git kept; job || fail "fails: $(tail -n 2 "$T/out")"; [ "$(cat kept)" = 1 ] || fail "not kept"
[ "$(git -c safe.directory='*' -C conf show HEAD:site.conf)" = "port = 80" ] || fail "nothing is kept"
echo 'port = 81' > conf/site.conf; job || fail "fails the second time"; [ "$(cat kept)" = 2 ] || fail "not kept twice"
scene; rm -rf conf; job && fail "no settings no longer fails"
exit 0
