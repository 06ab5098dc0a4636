import csv
from datetime import datetime

late = []
with open("rentals.csv", newline="", encoding="utf-8") as f:
    for row in csv.DictReader(f, delimiter=";"):
        back = datetime.strptime(row["back"], "%d.%m.%Y")
        if back < datetime(2024, 6, 1):
            late.append("%s %s" % (back.strftime("%Y-%m-%d"), row["bike"]))
with open("late.txt", "w") as out:
    out.write("\n".join(sorted(late)) + "\n")
