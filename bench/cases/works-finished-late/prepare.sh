python3 - <<'PY'
import sqlite3
db = sqlite3.connect("works.sqlite")
db.executescript("CREATE TABLE works (id INTEGER, due INTEGER, finished_time INTEGER); INSERT INTO works VALUES (1, 4, 6), (2, 4, 3), (3, 5, 9);")
PY
