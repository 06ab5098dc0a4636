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
J="env -i PATH=/usr/bin:/bin"
scene; rm -f stamp.json; quiet $J python3 stamp.py || fail "fails: $(tail -n1 "$T/out")"
python3 -c "import json,sys;d=json.load(open('stamp.json'));assert d=={'version':'1.2','account':sys.argv[1],'zone':'UTC'},d" "$(id -un)" || fail "wrong stamp"
quiet $J LOGNAME=vera python3 stamp.py; grep -q vera stamp.json || fail "LOGNAME is not used where set"
exit 0
