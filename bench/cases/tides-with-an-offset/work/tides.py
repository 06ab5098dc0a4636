import csv
import sys
from datetime import datetime

FORM = "%Y-%m-%dT%H:%M:%SZ"

last = None
with open("tides.csv", newline="") as source:
    for when, level in csv.reader(source):
        seen = datetime.strptime(when, FORM)
        if last and seen <= last:
            sys.exit("tides: %s is not later than the one before" % when)
        last = seen
with open("last.txt", "w") as out:
    out.write(last.strftime(FORM) + "\n")
