#!/usr/bin/env python3
"""Sum the invoices of a month per client and write totals.txt."""
import csv
import sys
from collections import defaultdict


def load(path):
    with open(path, newline="", encoding="utf-8") as handle:
        for line in csv.DictReader(handle):
            yield line["client"], float(line["amount"])


def main():
    totals = defaultdict(float)
    count = 0
    for client, amount in load("invoices.csv"):
        totals[client] += amount
        count += 1
    if count == 0:
        sys.exit("monthly_invoice: no invoices, was the export made?")
    with open("totals.txt", "w", encoding="utf-8") as out:
        for client in sorted(totals):
            out.write(f"{client}\t{totals[client]:.2f}\n")
    print(f"{count} invoices, {len(totals)} clients")


if __name__ == "__main__":
    main()
