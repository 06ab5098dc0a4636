set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
cmp -s bin/proxyd "$CASE/work/bin/proxyd" || fail "proxyd was edited"
scene; rm -rf live; quiet sh deploy-config.sh || fail "fails: $(tail -n 1 "$T/out")"
grep -qx 'port: 8080' live/proxy.yaml && grep -qx 'workers: 4' live/proxy.yaml && grep -q '  - /mail' live/proxy.yaml || fail "wrong"
scene; rm -rf live; echo 'colour: red' >> proxy.yaml; quiet sh deploy-config.sh && fail "an unknown key no longer fails"; [ ! -e live/proxy.yaml ] || fail "put live"
exit 0
exit 0
