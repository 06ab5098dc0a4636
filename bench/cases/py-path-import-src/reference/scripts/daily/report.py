"""Daily report. Run from anywhere."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src"))

from acme.units import to_kg
import acme.store as store

rows = store.load()
with open(store.path("report.txt"), "w") as f:
    for name, pounds in rows:
        f.write("%s %.1f\n" % (name, to_kg(pounds)))
