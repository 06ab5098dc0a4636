import json

people = json.load(open("people.json", encoding="utf-8"))
with open("contacts.txt", "w", encoding="utf-8") as out:
    for p in people:
        phone = p.get("phone") or "-"
        out.write("%s;%s;%s\n" % (p["id"], p["name"], phone))
