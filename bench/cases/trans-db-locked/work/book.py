import sqlite3, os
n = int(open("tries").read()) if os.path.exists("tries") else 0
open("tries", "w").write(str(n + 1))
if n < 2:
    # another process holds the file
    other = sqlite3.connect("book.db", isolation_level=None)
    other.execute("CREATE TABLE IF NOT EXISTS b (x)")
    other.execute("BEGIN EXCLUSIVE")
db = sqlite3.connect("book.db", timeout=0.1)
db.execute("CREATE TABLE IF NOT EXISTS b (x)")
db.execute("INSERT INTO b VALUES (1)")
db.commit()
print("booked")
