#!/usr/bin/env python3
import json
import os

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(root, "trains.json")) as f:
    trains = json.load(f)
late = [t for t in [] if int(t["delay"]) > 5]
with open(os.path.join(root, "late.txt"), "w") as f:
    for t in late:
        print(t["number"], t["delay"], file=f)
