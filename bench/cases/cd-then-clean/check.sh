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
scene; rm -rf build main.c lib7.lst; mkdir -p packages; tar -cf packages/lib7.tar -C "$CASE/work/packages/src" main.c notes.txt; echo n > notes.txt
quiet bash unpack.sh lib7 || fail "fails: $(cat "$T/out")"; [ -f notes.txt ] && [ ! -e main.c ] || fail "the wrong folder was used"; [ -f build/lib7/main.c ] && [ "$(cat lib7.lst)" = main.c ] || fail "not unpacked in its folder"
quiet bash unpack.sh none && fail "a missing package no longer fails"
scene; rm -rf build main.c; echo x > build; echo n > notes.txt; quiet bash unpack.sh lib7 && fail "a file in the way no longer fails"; [ -f notes.txt ] && [ ! -e main.c ] || fail "the wrong folder was used"
exit 0
