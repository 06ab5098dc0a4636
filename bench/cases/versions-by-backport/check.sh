set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f have.txt; quiet python3 versions.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat have.txt)" = "no-such-package-at-all no" ] || fail wrong
scene; grep -q 'importlib' versions.py || fail "does not look any more"; : > wanted.txt; quiet python3 versions.py && fail "nothing wanted no longer fails"
exit 0
exit 0
