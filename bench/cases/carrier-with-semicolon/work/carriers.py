#!/usr/bin/env python3
"""Orders per carrier."""
from collections import Counter

count = Counter()
with open("parcels.txt", encoding="utf-8") as parcels:
    head = parcels.readline()
    for line in parcels:
        fields = line.strip().split(";")
        count[fields[1]] += int(fields[2])
with open("carriers.txt", "w", encoding="utf-8") as out:
    for carrier, pieces in sorted(count.items()):
        out.write(f"{carrier}: {pieces}\n")
