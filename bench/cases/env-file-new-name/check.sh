set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -rf mirror/wiki; quiet sh mirror.sh || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat mirror/wiki/a.txt)" = a ] || fail wrong
scene; echo 'MIRROR_ROOT=nowhere' > mirror.conf; quiet sh mirror.sh && fail "a missing root no longer fails"
exit 0
exit 0
