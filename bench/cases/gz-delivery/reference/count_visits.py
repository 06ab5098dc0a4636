#!/usr/bin/env python3
"""Visits per page from the delivered log of yesterday."""
import gzip
from collections import Counter
from pathlib import Path

LOG = Path("delivery") / "visits.log.gz"

hits = Counter()
with gzip.open(LOG, "rt", encoding="utf-8") as lines:
    for line in lines:
        when, page, code = line.split()
        if code == "200":
            hits[page] += 1
Path("visits.txt").write_text("".join(f"{n} {p}\n" for p, n in sorted(hits.items())), encoding="utf-8")
print(sum(hits.values()), "visits")
