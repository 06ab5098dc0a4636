"""Sheets of labels out of addresses.txt.

LABELS_PER_SHEET (optional, default 3) says how many fit on one sheet.
"""
import os

per_sheet = int(os.environ["LABELS_PER_SHEET"])
with open("addresses.txt") as source:
    names = [line.strip() for line in source if line.strip()]
with open("sheets.txt", "w") as out:
    for at in range(0, len(names), per_sheet):
        out.write(" | ".join(names[at:at + per_sheet]) + "\n")
