import json
from datetime import datetime

first = last = None
for line in open("events.jsonl", encoding="utf-8"):
    when = datetime.fromisoformat(json.loads(line)["at"])
    first = min(first or when, when)
    last = max(last or when, when)
with open("span.txt", "w") as out:
    out.write("%d\n" % round((last - first).total_seconds()))
