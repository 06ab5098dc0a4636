import sqlite3

db = sqlite3.connect("library.db")
rows = db.execute("SELECT title, due FROM loans WHERE due < '2024-06-01' ORDER BY due").fetchall()
with open("overdue.txt", "w") as out:
    for title, due in rows:
        out.write(f"{due} {title}\n")
print(len(rows), "overdue")
