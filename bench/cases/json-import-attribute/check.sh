set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
same() { local f; for f in "$@"; do cmp -s "$CASE/work/$f" "$HEALED/$f" || fail "$f was changed"; done; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
same settings.json; scene; rm -f ports.env; quiet node ports.mjs || fail "fails: $(tail -n1 "$T/out")"; [ "$(paste -sd, ports.env)" = "WEB=8080,API=9090" ] || fail wrong
echo '{' > settings.json; quiet node ports.mjs && fail "broken settings are accepted"; true
exit 0
