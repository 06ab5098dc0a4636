import pathlib
import socket

here = pathlib.Path(__file__).parent
host = socket.gethostname()
rows = (here / "rows.txt").read_text().splitlines()
if not rows:
    raise SystemExit("no rows")
(here / "report.txt").write_text(host.split(".")[0] + " %d\n" % len(rows))
