#!/usr/bin/env python3
import json

with open("cart.json") as source:
    cart = json.load(source)
total = cart.get("shipping", 0)
for position in cart["positions"]:
    total += position["count"] * position.get("unitPrice", 0)
with open("invoice.txt", "w") as out:
    out.write("%.2f\n" % total)
