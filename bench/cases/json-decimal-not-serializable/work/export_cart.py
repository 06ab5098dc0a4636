#!/usr/bin/env python3
"""Export the cart as JSON for the till."""
import json
from decimal import Decimal

def read_cart(path):
    for line in open(path, encoding="utf-8"):
        sku, price, qty = line.split()
        yield {"sku": sku, "price": Decimal(price), "qty": int(qty)}

cart = list(read_cart("cart.txt"))
total = sum((c["price"] * c["qty"] for c in cart), Decimal("0"))
with open("cart.json", "w", encoding="utf-8") as out:
    json.dump({"items": cart, "total": total}, out, indent=1)
print("total", total)
