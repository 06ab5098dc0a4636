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
scene; rm -rf run mirror/a; mkdir -p run/sync.lock mirror; echo 4194871 > run/sync.lock/pid; quiet watch bash sync.sh || fail "fails: $(cat "$T/out")"; strict errexit; [ -f mirror/a ] && [ ! -e run/sync.lock ] || fail "not synced, or lock left"
rm -rf mirror/a; mkdir -p run/sync.lock; sleep 30 & p=$!; echo $p > run/sync.lock/pid; quiet bash sync.sh && rc=0 || rc=$?; kill $p; [ $rc != 0 ] || fail "a living sync no longer stops the job"; [ ! -e mirror/a ] && [ "$(cat run/sync.lock/pid)" = $p ] || fail "synced beside a living one"
rm -rf run; quiet bash sync.sh || fail "fails without a lock"
exit 0
