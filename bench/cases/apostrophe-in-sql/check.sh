set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
q() { python3 -c 'import sqlite3,sys; print("|".join("%s,%s" % r for r in sqlite3.connect("club.db").execute("SELECT name,town FROM member ORDER BY name")))'; }
scene; rm -f club.db; quiet python3 import_members.py || fail "fails: $(tail -n 1 "$T/out")"
[ "$(q)" = "Berg,Oslo|O'Neil,Cork" ] || fail "wrong: $(q)"
scene; rm -f club.db; printf "name,town\nX');--,L'Aquila\n" > list.csv; quiet python3 import_members.py || fail quotes; [ "$(q)" = "X');--,L'Aquila" ] || fail "wrong: $(q)"
scene; printf 'nom,town\na,b\n' > list.csv; quiet python3 import_members.py && fail "a missing column no longer fails"
exit 0
exit 0
