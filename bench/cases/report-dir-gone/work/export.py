import csv, os, datetime
BASE = os.path.dirname(os.path.realpath(__file__))
rows = list(csv.DictReader(open(os.path.join(BASE, "sales.csv"))))
target = os.path.join(BASE, "reports", "2031", "05")
with open(os.path.join(target, "sales.txt"), "w") as out:
    for r in rows:
        out.write("%s\t%s\n" % (r["shop"], r["total"]))
