#!/usr/bin/env python3
"""List overdue loans."""
import os, sqlite3

TODAY = os.environ.get("TODAY", "2031-03-10")
db = sqlite3.connect("library.db")
rows = db.execute("SELECT reader, title FROM loans WHERE 0 ORDER BY reader", (TODAY,)).fetchall()
with open("overdue.txt", "w") as out:
    for reader, title in rows:
        out.write("%s: %s\n" % (reader, title))
print(len(rows), "overdue")
