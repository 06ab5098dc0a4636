set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
q() { python3 -c 'import sqlite3; print("|".join("%s,%s" % r for r in sqlite3.connect("songs.db").execute("SELECT title,day FROM played ORDER BY title")))'; }
scene; rm -f songs.db; quiet python3 songs.py || fail "fails: $(tail -n 1 "$T/out")"; [ "$(q)" = "Don't stop,2031-01-02|Home,2031-01-03" ] || fail "wrong: $(q)"
scene; echo 'no tab' > played.log; quiet python3 songs.py && fail "a line without a tab no longer fails"
exit 0
exit 0
