import csv
value = 0.0
with open("stock.csv", encoding="utf-8") as f:
    for r in csv.DictReader(f, delimiter=";"):
        value += int(r["pieces"]) * float(r["price"].replace(",", "."))
with open("value.txt", "w") as f:
    f.write("%.2f\n" % value)
