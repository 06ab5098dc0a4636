python3 - <<'PY'
import sqlite3
db = sqlite3.connect("library.db")
db.executescript(open("schema.sql").read())
db.executescript("""INSERT INTO books VALUES (1, 'Dune', 'A'), (2, 'Emma', 'B'), (3, 'Ulysses', 'C');
INSERT INTO loans VALUES (1, 2, 'x', '2024-05-01'), (2, 1, 'y', '2024-05-20'), (3, 3, 'z', '2024-07-01');""")
db.commit()
PY
