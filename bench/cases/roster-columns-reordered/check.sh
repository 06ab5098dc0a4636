set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
watch() { rm -f "$T/opts"; BASH_ENV="$T/env.sh" "$@"; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { rm -f doors.txt; quiet watch bash roster.sh; }
scene; job || fail "fails: $(tail -n 1 "$T/out")"; [ "$(head -n 1 doors.txt)" = "A1 opens floor 3 for Ida" ] || fail "wrong: $(cat doors.txt)"
scene; printf 'name,department,badge,floor\nX,Y,Z,attic\n' > roster.csv; job && fail "a bad floor no longer fails"
scene; rm roster.csv; job && fail "no roster no longer fails"
exit 0
exit 0
