import sqlite3

db = sqlite3.connect("file:works.sqlite?mode=ro", uri=True)
with open("late.txt", "w") as out:
    for ident, ended in db.execute("SELECT id, due FROM works WHERE 1 ORDER BY id"):
        out.write("%s %s\n" % (ident, ended))
