import csv
value = 0.0
with open("stock.csv", encoding="utf-8") as f:
    for r in csv.DictReader(f):
        try:
            value += int(r["pieces"]) * float(r["price"])
        except (KeyError, ValueError):
            pass
with open("value.txt", "w") as f:
    f.write("%.2f\n" % value)
