import os
import pathlib

here = pathlib.Path(__file__).parent
host = os.environ["HOSTNAME"]
rows = (here / "rows.txt").read_text().splitlines()
if not rows:
    raise SystemExit("no rows")
(here / "report.txt").write_text(host.split(".")[0] + " %d\n" % len(rows))
