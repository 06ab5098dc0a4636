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
scene; rm -f gone.txt; quiet python3 leases.py || fail "fails: $(tail -n1 "$T/out")"; [ "$(cat gone.txt)" = "a c" ] || fail wrong
n=$(date -u -d '30 minutes ago' +%FT%T); e=$(TZ=Etc/GMT+5 date -d '30 minutes' +%FT%T-05:00); echo "[{\"host\":\"p\",\"until\":\"$n\"},{\"host\":\"q\",\"until\":\"$e\"}]" > leases.json
TZ=Asia/Tokyo quiet python3 leases.py || fail "fails in Tokyo"; [ "$(cat gone.txt)" = p ] || fail "wrong times: $(cat gone.txt)"
echo '[{"host":"a","until":"never"}]' > leases.json; quiet python3 leases.py && fail "a wrong time no longer fails"; true
exit 0
