"""How many parcels left since the moment in since.txt, which is in seconds of the epoch."""
import sqlite3

QUERY = """
    SELECT count(*) FROM parcels
     WHERE departed > ? AND state = 'sent'
"""

with open("since.txt") as f:
    since = int(f.read())
db = sqlite3.connect("file:parcels.db?mode=ro", uri=True)
(count,) = db.execute(QUERY, (since,)).fetchone()
with open("left.txt", "w") as out:
    out.write("%d\n" % count)
