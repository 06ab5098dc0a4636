"""Write one text per invoice: out/YEAR/NUMBER.txt"""
import csv
from pathlib import Path

BASE = Path(__file__).resolve().parent


def render(row):
    return "Invoice %s\nAmount %s\n" % (row["number"], row["amount"])


def main():
    with (BASE / "invoices.csv").open(encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        target = BASE / "out" / row["date"][:4] / (row["number"] + ".txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(row), encoding="utf-8")
    print(len(rows), "invoices")


if __name__ == "__main__":
    main()
