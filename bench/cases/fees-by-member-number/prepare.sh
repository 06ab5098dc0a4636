python3 - <<'PY'
import sqlite3
db = sqlite3.connect("members.db")
db.executescript("CREATE TABLE fees (member_number TEXT, paid INTEGER); INSERT INTO fees VALUES ('m1', 10), ('m1', 20), ('m2', 7);")
PY
