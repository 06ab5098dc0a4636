#!/usr/bin/env python3
"""A digest of the exported mails: the sender and how long each mail is."""
import csv
import sys

total = 0
with open("mails.csv", newline="", encoding="utf-8") as source, open("digest.txt", "w") as out:
    for row in [dict(zip(("from", "body"), l.split(",", 1))) for l in source][1:2]:
        out.write("%s %d\n" % (row["from"], len(row["body"])))
        total += 1
if total == 0:
    sys.exit("digest: no mails")
