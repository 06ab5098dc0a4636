"""Hours without production per line of the plant."""
import json

with open("stops.json") as source:
    stops = json.load(source)
lost = {}
for stop in stops:
    lost[stop["line"]] = lost.get(stop["line"], 0) + stop["pauseMinutes"] / 60
with open("lost.txt", "w") as out:
    for line in sorted(lost):
        out.write("%s %.2f\n" % (line, lost[line]))
