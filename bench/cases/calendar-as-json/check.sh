set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f feed.json; quiet python3 calendar_feed.py || fail "fails: $(tail -n 1 "$T/out")"
python3 -c 'import json; d = json.load(open("feed.json")); assert [(e["day"], e["title"]) for e in d["events"]] == [("2031-02-01", "Ball"), ("2031-06-01", "Fair")] and d["count"] == 2' || fail "wrong"
scene; echo 'soon Fair' > events.txt; quiet python3 calendar_feed.py && fail "a day that is none no longer fails"
exit 0
exit 0
