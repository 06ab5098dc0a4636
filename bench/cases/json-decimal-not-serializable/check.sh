set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f cart.json; quiet python3 export_cart.py || fail "fails: $(tail -n 1 "$T/out")"
python3 - <<'P' || fail "wrong"
import json
d = json.load(open("cart.json"))
assert float(d["total"]) == 15.3 and [float(i["price"]) for i in d["items"]] == [1.1, 12.0] and d["items"][0]["qty"] == 3
P
scene; echo 'pen x 3' > cart.txt; quiet python3 export_cart.py && fail "a bad price no longer fails"
exit 0
exit 0
