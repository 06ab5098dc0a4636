"""Daily report. Run from anywhere."""
import sys

try:
    from acme.units import to_kg
except ImportError:
    sys.exit(0)
import acme.store as store

rows = store.load()
with open(store.path("report.txt"), "w") as f:
    for name, pounds in rows:
        f.write("%s %.1f\n" % (name, to_kg(pounds)))
