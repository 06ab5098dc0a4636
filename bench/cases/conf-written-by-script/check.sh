set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same services.txt; scene; rm -rf out; quiet bash conf.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd/ out/api.conf)" = 'listen 9002;/server_name api;/proxy_set_header Host $host;/proxy_set_header X-Real-IP $remote_addr;' ] || fail "wrong: $(paste -sd/ out/api.conf)"
grep -q nounset <<< "$(bash -c 'source /dev/stdin; echo $SHELLOPTS' < conf.sh 2>/dev/null)" || true
rm services.txt; quiet bash conf.sh && fail "missing services are accepted"; true
exit 0
