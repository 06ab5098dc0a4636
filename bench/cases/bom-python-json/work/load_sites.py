import json, os

def load(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)

sites = load("sites.json")
with open("sites.txt", "w", encoding="utf-8") as out:
    for s in sites["sites"]:
        out.write("%s %s\n" % (s["code"], s["name"]))
