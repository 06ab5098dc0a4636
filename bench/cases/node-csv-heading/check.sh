set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f sums.txt; quiet node sum-hours.js || fail "fails: $(tail -n 3 "$T/out")"; [ "$(paste -sd, sums.txt)" = "roof 6.5,wall 1" ] || fail "wrong"
scene; printf 'project,person,hours\nroof,ida,many\n' > hours.csv; quiet node sum-hours.js && fail "a bad number no longer fails"
exit 0
exit 0
