"""What each waiter took in, in dollars."""
import sqlite3

db = sqlite3.connect("file:bills.db?mode=ro", uri=True)
db.row_factory = sqlite3.Row
took = {}
for row in db.execute("SELECT waiter, (base_cents + tip_cents) / 100.0 AS amount FROM bills ORDER BY number"):
    took[row["waiter"]] = took.get(row["waiter"], 0) + row["amount"]
with open("took.txt", "w") as out:
    for waiter in sorted(took):
        out.write("%s %.2f\n" % (waiter, took[waiter]))
