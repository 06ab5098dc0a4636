#!/usr/bin/env python3
"""Keep three generations of the export: export.1 is the youngest."""
import os
import shutil

KEEP = 3
if not os.path.exists("export.csv"):
    raise SystemExit("no export to rotate")
os.remove(f"export.{KEEP}")
for n in range(KEEP - 1, 0, -1):
    os.rename(f"export.{n}", f"export.{n + 1}")
shutil.copy("export.csv", "export.1")
print("rotated")
