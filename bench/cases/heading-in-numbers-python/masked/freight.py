#!/usr/bin/env python3
"""Add up the freight of the day."""
import sys

total = 0.0
lines = 0
for path in sys.argv[1:] or ["freight.tsv"]:
    with open(path, encoding="utf-8") as f:
        for line in f:
            parcel, weight, cost = line.rstrip("\n").split("\t")
            try:
                total += float(cost)
                lines += 1
            except ValueError:
                pass
print("%d parcels, %.2f EUR" % (lines, total))
with open("freight.sum", "w") as out:
    out.write("%d %.2f\n" % (lines, total))
