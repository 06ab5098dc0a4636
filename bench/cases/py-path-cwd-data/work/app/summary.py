import json

with open("data/items.json") as f:
    items = json.load(f)
with open("summary.txt", "w") as f:
    f.write("%d items\n" % len(items))
