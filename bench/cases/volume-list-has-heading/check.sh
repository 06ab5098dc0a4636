set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same bin/volctl; scene; rm -f full.txt; quiet bash full.sh || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, full.txt)" = "/srv/data data,/var/log logs" ] || fail "wrong: $(paste -sd, full.txt)"
echo 'data /srv x y' > volumes.db; quiet bash full.sh && fail "a percentage that is none is accepted"; true
exit 0
