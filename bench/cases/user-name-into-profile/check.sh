set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f greetings.txt; quiet node greet.js || fail "fails: $(tail -n 3 "$T/out")"
[ "$(cat greetings.txt)" = "Dear Anna, all the best! -> a@x.example" ] || fail "wrong: $(cat greetings.txt)"
TODAY=06-01 quiet node greet.js || fail "june"; [ "$(cat greetings.txt)" = "Dear Bo, all the best! -> b@x.example" ] || fail "wrong june"
scene; echo '{"users":[{"email":"q"}]}' > users.json; quiet node greet.js && fail "a user without profile no longer fails"
exit 0
exit 0
