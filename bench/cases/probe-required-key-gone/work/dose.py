import json
with open("patient.json") as f:
    p = json.load(f)
dose = p["weight"] * 2
open("dose.txt", "w").write("%d\n" % dose)
