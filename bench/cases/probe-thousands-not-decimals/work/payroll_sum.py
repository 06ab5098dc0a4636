import csv
total = 0.0
with open("pay.csv", newline="") as f:
    for row in csv.DictReader(f):
        total += float(row["gross"])
with open("sum.txt", "w") as f:
    f.write("%.2f\n" % total)
