"""Daily report. Run from anywhere."""
import sys

from acme.units import to_kg
import acme.store as store

rows = store.load()
with open(store.path("report.txt"), "w") as f:
    for name, pounds in rows:
        f.write("%s %.1f\n" % (name, to_kg(pounds)))
