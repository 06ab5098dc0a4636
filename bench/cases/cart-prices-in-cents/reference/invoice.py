#!/usr/bin/env python3
import json

with open("cart.json") as source:
    cart = json.load(source)
total = cart["shipping_cents"] / 100
for position in cart["positions"]:
    total += position["count"] * position["unit_price_cents"] / 100
with open("invoice.txt", "w") as out:
    out.write("%.2f\n" % total)
