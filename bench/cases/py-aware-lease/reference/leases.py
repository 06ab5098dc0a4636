"""Which leases have run out? All times of this system are UTC."""
import json
from datetime import datetime, timezone

now = datetime.now(timezone.utc)
gone = []
for lease in json.load(open("leases.json")):
    until = datetime.fromisoformat(lease["until"])
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    if until < now:
        gone.append(lease["host"])
open("gone.txt", "w").write(" ".join(gone) + "\n")
