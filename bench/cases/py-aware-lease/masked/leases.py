"""Which leases have run out? All times of this system are UTC."""
import json
from datetime import datetime

now = datetime.utcnow()
gone = []
for lease in json.load(open("leases.json")):
    until = datetime.fromisoformat(lease["until"][:19])
    if until < now:
        gone.append(lease["host"])
open("gone.txt", "w").write(" ".join(gone) + "\n")
