python3 - <<'PY'
import sqlite3
db = sqlite3.connect("parcels.db")
db.executescript(open("schema.sql").read())
db.executemany("INSERT INTO parcels (state, departed_at) VALUES (?, ?)", [("sent", "2024-05-01T10:00:00Z"), ("sent", "2024-05-02T08:00:00Z"), ("lost", "2024-05-02T09:00:00Z"), ("sent", "2024-05-03T10:00:00Z")])
db.commit()
PY
