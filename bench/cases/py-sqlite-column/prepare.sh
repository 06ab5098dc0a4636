python3 - <<'P'
import sqlite3
db = sqlite3.connect("library.db")
db.executescript("""CREATE TABLE readers (id INTEGER, readerName TEXT); CREATE TABLE loans (title TEXT, reader_id INTEGER, due_date TEXT); INSERT INTO readers VALUES (1, 'Al'); INSERT INTO loans VALUES ('Dune', 1, '2029-01-01'), ('Emma', 1, '2031-01-01');""")
P
