#!/usr/bin/env python3
"""Tomorrow's weather, for the display in the hall."""
import os
import json

with open("forecast.json", encoding="utf-8") as f:
    forecast = json.load(f)
day = forecast["days"][1]
text = "%s: %d to %d degrees" % (day["text"], day["low"], day["high"])
with open("display.tmp", "w") as f:
    f.write(text + "\n")
os.replace("display.tmp", "display.txt")
