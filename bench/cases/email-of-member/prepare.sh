python3 - <<'PY'
import sqlite3
db = sqlite3.connect("members.sqlite")
db.executescript(open("schema.sql").read())
db.executescript("""INSERT INTO member VALUES (1, 'a@x'), (2, 'b@x');
INSERT INTO subscriptions VALUES (11, 2, 'pro'), (12, 1, 'team'), (13, 1, 'free');""")
db.commit()
PY
