python3 - <<'PY'
import sqlite3
db = sqlite3.connect("bills.db")
db.executescript(open("schema.sql").read())
db.executemany("INSERT INTO bills (waiter, base_cents, tip_cents) VALUES (?, ?, ?)", [("ann", 2000, 200), ("bo", 1000, 5), ("ann", 400, 50)])
db.commit()
PY
