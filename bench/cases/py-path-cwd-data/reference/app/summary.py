import json
import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))

with open("data/items.json") as f:
    items = json.load(f)
with open("summary.txt", "w") as f:
    f.write("%d items\n" % len(items))
