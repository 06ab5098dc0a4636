import json
text = open("show.json", encoding="utf-8").read()
show = {"items": []}
with open("show.txt", "w", encoding="utf-8") as out:
    for item in show["items"]:
        out.write(item["name"] + "\n")
