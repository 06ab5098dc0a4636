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
scene; rm -f var/sent.txt; echo 4190001 > var/mail.pid; quiet sh cron-mail.sh || fail "fails: $(cat "$T/out")"; [ "$(paste -sd, var/sent.txt)" = m1,m2 ] || fail wrong
rm -f var/sent.txt; sleep 30 & p=$!; echo $p > var/mail.pid; quiet sh cron-mail.sh && rc=0 || rc=$?; kill $p; [ $rc != 0 ] && [ ! -e var/sent.txt ] || fail "a living run no longer stops the job"
rm -rf var/mail.pid queue; quiet sh cron-mail.sh && fail "no queue no longer fails"; true
exit 0
