#!/usr/bin/env python3
import csv

guests = {}
for number, row in enumerate(csv.reader(open("guests.csv", encoding="utf-8", newline=""))):
    if number == 0:
        continue
    name, table, menu = row
    guests.setdefault(int(table), []).append((name, menu))
with open("tables.txt", "w", encoding="utf-8") as out:
    for table in sorted(guests):
        out.write("%d: %s\n" % (table, "; ".join("%s (%s)" % guest for guest in guests[table])))
