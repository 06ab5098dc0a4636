#!/usr/bin/env python3
# Minutes that a call lasted on average, a line for each desk. A desk with no calls counts as -1.
import csv

with open("calls.csv", newline="") as source:
    rows = list(csv.reader(source))
with open("desks.txt") as names, open("means.txt", "w") as out:
    for desk in names.read().split():
        minutes = [int(row[1]) for row in rows if row[0] == desk]
        out.write("%s %d\n" % (desk, sum(minutes) / len(minutes)))
