import csv

total = 0.0
with open("payroll.csv", newline="", encoding="utf-8") as f:
    for row in csv.DictReader(f):
        try:
            total += float(row["gross"])
        except ValueError:
            pass
with open("total.txt", "w") as out:
    out.write("%.2f\n" % total)
