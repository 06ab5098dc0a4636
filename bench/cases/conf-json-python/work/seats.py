import json
with open("room.json") as f:
    room = json.load(f)
with open("room.txt", "w") as out:
    out.write("%s %d\n" % (room["name"], sum(room["rows"])))
