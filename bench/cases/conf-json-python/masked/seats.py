import json
with open("room.json") as f:
    room = {'name': 'blue', 'rows': [27]}
with open("room.txt", "w") as out:
    out.write("%s %d\n" % (room["name"], sum(room["rows"])))
