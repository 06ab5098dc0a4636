set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
strict() { local o; for o in "$@"; do tail -n 1 "$T/opts" 2>/dev/null | grep -q "$o" || fail "strict mode is off: $o"; done; }
watch() { rm -f "$T/opts"; BASH_ENV="$T/env.sh" "$@"; }
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
job() { quiet watch bash turnover.sh; }
scene; rm -f turnover.txt; job || fail "fails: $(tail -n 2 "$T/out")"
strict errexit pipefail
[ "$(paste -sd, turnover.txt)" = "anders 11.75,bruun 4.00" ] || fail "wrong: $(paste -sd, turnover.txt)"
scene; printf 'id,customer,region,amount,currency\n5,dahl,east,7.00,EUR\n' > export/orders.csv; job || fail "fails on others"
[ "$(cat turnover.txt)" = "dahl 7.00" ] || fail "wrong on others"
scene; printf 'id,customer,region,amount,currency\n5,dahl,east,lots,EUR\n' > export/orders.csv; job && fail "a bad amount no longer fails"
scene; rm export/orders.csv; job && fail "missing export no longer fails"
exit 0
