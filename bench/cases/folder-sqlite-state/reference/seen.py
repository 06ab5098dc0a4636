import os
import sqlite3
import sys

here = os.path.dirname(os.path.abspath(__file__))
STATE = os.path.join(here, "state", "seen.db")

os.makedirs(os.path.dirname(STATE), exist_ok=True)
db = sqlite3.connect(STATE)
db.execute("CREATE TABLE IF NOT EXISTS seen (item TEXT PRIMARY KEY)")
new = []
for line in open(sys.argv[1], encoding="utf-8"):
    item = line.strip()
    if not db.execute("SELECT 1 FROM seen WHERE item = ?", (item,)).fetchone():
        db.execute("INSERT INTO seen VALUES (?)", (item,))
        new.append(item)
db.commit()
print("new:", ",".join(new))
