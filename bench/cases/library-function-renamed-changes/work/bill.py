#!/usr/bin/env python3
"""The bill of the month, with the office's own little library."""
from office import money

lines = [line.split() for line in open("items.txt")]
total = sum(money.parse(price) for _, price in lines)
with open("bill.txt", "w") as out:
    out.write(money.show(total) + "\n")
