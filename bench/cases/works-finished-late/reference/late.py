import sqlite3

db = sqlite3.connect("file:works.sqlite?mode=ro", uri=True)
with open("late.txt", "w") as out:
    for ident, ended in db.execute("SELECT id, finished_time FROM works WHERE finished_time > due ORDER BY id"):
        out.write("%s %s\n" % (ident, ended))
