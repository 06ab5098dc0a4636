#!/usr/bin/env python3
"""Orders per carrier."""
import csv
from collections import Counter

count = Counter()
with open("parcels.txt", encoding="utf-8") as parcels:
    head = parcels.readline()
    for line in parcels:
        fields = next(csv.reader([line.strip()], delimiter=";"))
        count[fields[1]] += int(fields[2])
with open("carriers.txt", "w", encoding="utf-8") as out:
    for carrier, pieces in sorted(count.items()):
        out.write(f"{carrier}: {pieces}\n")
