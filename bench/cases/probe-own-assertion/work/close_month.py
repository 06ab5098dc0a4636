import csv
debit = credit = 0
with open("journal.csv", newline="") as f:
    for row in csv.DictReader(f):
        debit += int(row["debit"])
        credit += int(row["credit"])
if debit != credit:
    raise SystemExit("close_month: debit %d and credit %d differ" % (debit, credit))
open("closed", "w").write("ok\n")
