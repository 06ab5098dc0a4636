"""Prices must be there: an offer without a price is not sent."""
import csv
total = 0
with open("offer.csv", newline="") as f:
    for row in csv.DictReader(f):
        total += int(row["price"])
open("offer.txt", "w").write("%d\n" % total)
