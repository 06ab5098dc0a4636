import csv
with open("items.csv", newline="") as f:
    total = sum(int(r["price_in_vat"]) for r in csv.DictReader(f))
open("offer.txt", "w").write("%d\n" % total)
