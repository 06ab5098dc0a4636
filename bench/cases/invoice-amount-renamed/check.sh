set -u
HEALED=$PWD
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
fail() { echo "check: $*"; exit 1; }
scene() { rm -rf "$T/s"; cp -a "$HEALED" "$T/s"; cd "$T/s" || exit 1; }
echo "trap 'echo \"\$SHELLOPTS\" >> \"$T/opts\"' DEBUG" > "$T/env.sh"
quiet() { "$@" > "$T/out" 2>&1 < /dev/null; }
scene; rm -f totals.txt; quiet python3 monthly_invoice.py || fail "fails: $(tail -n 2 "$T/out")"
[ "$(cat totals.txt)" = "$(printf 'acme\t110.00\nbolt\t50.00')" ] || fail "wrong totals: $(cat totals.txt)"
scene; printf 'number,client,gross_amount,vat,net_amount\n9,zed,2.38,0.38,2.00\n' > invoices.csv; quiet python3 monthly_invoice.py || fail "fails on other data"
[ "$(cat totals.txt)" = "$(printf 'zed\t2.00')" ] || fail "wrong on other data"
scene; printf 'number,client,gross_amount,vat,net_amount\n' > invoices.csv; quiet python3 monthly_invoice.py && fail "no invoices no longer fails"
scene; rm invoices.csv; quiet python3 monthly_invoice.py && fail "missing export no longer fails"
exit 0
