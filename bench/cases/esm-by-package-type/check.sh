set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f index.json; quiet node bin/build-index.js || fail "fails: $(tail -n 3 "$T/out")"
node -e 'const d = JSON.parse(require("fs").readFileSync("index.json")); if (d.potato.length !== 2 || d.leek[0] !== "soup.txt") process.exit(1)' 2>/dev/null || node --input-type=commonjs -e 'const d = JSON.parse(require("fs").readFileSync("index.json")); if (d.potato.length !== 2 || d.leek[0] !== "soup.txt") process.exit(1)' || fail wrong
scene; rm -r recipes; quiet node bin/build-index.js && fail "no recipes no longer fails"
exit 0
exit 0
