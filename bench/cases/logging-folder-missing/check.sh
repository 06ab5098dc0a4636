set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -rf var; quiet python3 sync_feeds.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(paste -sd, synced.txt)" = a,b ] && grep -q 'synced b' var/log/feeds.log || fail wrong
scene; : > feeds.txt; quiet python3 sync_feeds.py && fail "no feeds no longer fails"
scene; rm -rf var; echo x > var; quiet python3 sync_feeds.py && fail "a file in the way no longer fails"
exit 0
exit 0
