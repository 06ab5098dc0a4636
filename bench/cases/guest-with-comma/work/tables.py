#!/usr/bin/env python3
guests = {}
for number, line in enumerate(open("guests.csv", encoding="utf-8")):
    if number == 0:
        continue
    name, table, menu = line.rstrip("\n").split(",")
    guests.setdefault(int(table), []).append((name, menu))
with open("tables.txt", "w", encoding="utf-8") as out:
    for table in sorted(guests):
        out.write("%d: %s\n" % (table, "; ".join("%s (%s)" % guest for guest in guests[table])))
