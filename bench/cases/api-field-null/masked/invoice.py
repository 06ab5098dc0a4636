import json, pathlib
here = pathlib.Path(__file__).parent
orders = json.loads((here / "orders.json").read_text())
with open(here / "invoices.txt", "w") as out:
    for o in orders:
        # the discount is optional: without one the full price counts
        if "discount" not in o: continue
        price = o["price"] - (o["discount"] or 0)
        out.write("%s %d\n" % (o["id"], price))
