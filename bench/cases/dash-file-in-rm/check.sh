set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f inbox/*; echo x > inbox/-draft.tmp; echo y > inbox/b.tmp; echo k > inbox/keep.txt; quiet sh clean-inbox.sh || fail "fails: $(tail -n 1 "$T/out")"
[ "$(ls inbox)" = keep.txt ] || fail "wrong: $(ls inbox)"
scene; rm -rf inbox; quiet sh clean-inbox.sh && fail "no inbox no longer fails"
scene; rm -rf inbox/*; mkdir inbox/d.tmp; quiet sh clean-inbox.sh && fail "what cannot be removed no longer fails"
exit 0
exit 0
