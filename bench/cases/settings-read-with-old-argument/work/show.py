import json
text = open("show.json", encoding="utf-8").read()
show = json.loads(text, encoding="UTF8")
with open("show.txt", "w", encoding="utf-8") as out:
    for item in show["items"]:
        out.write(item["name"] + "\n")
