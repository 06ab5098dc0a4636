set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; mkdir -p run; echo 4194301 > run/feeder.pid; quiet sh swap-feeder.sh || fail "fails: $(tail -n 1 "$T/out")"; [ "$(cat feeder.conf)" = rate=5 ] && [ ! -e run/feeder.pid ] || fail "not swapped"
scene; mkdir -p run; sleep 60 & p=$!; echo $p > run/feeder.pid; quiet sh swap-feeder.sh || fail "fails with a living feeder"; wait $p; [ $? = 143 ] || fail "the living feeder was not stopped"
scene; rm -f run/feeder.pid; quiet sh swap-feeder.sh && fail "no number no longer fails"
exit 0
exit 0
