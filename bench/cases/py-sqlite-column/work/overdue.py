import sqlite3

db = sqlite3.connect("file:library.db?mode=ro", uri=True)
rows = db.execute(
    "SELECT l.title, r.reader_name FROM loans l"
    " JOIN readers r ON r.id = l.reader_id"
    " WHERE l.due_date < '2030-01-01' ORDER BY l.title").fetchall()
with open("overdue.txt", "w") as out:
    for title, reader in rows:
        out.write("%s: %s\n" % (reader, title))
