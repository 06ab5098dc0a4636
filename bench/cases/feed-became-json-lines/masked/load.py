#!/usr/bin/env python3
# Total of the day's payments. Since the move to the new exporter the feed is one JSON object a line (see NOTES).
import json
import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))
with open("feed.json") as f:
    rows = [json.loads(f.readline())]
total = sum(r["cents"] for r in rows)
with open("total.txt", "w") as f:
    f.write("%d.%02d\n" % divmod(total, 100))
print(len(rows), "payments")
