#!/usr/bin/env python3
"""Write the connection string for the poller."""
import configparser
import sys
from pathlib import Path

here = Path(__file__).parent
conf = configparser.ConfigParser()
if not conf.read(here / "db.ini"):
    sys.exit("rotate: no db.ini")
db = conf["db"]
line = f"host={db['host']} user={db['user']} password={db['password']}"
(here / "dsn").write_text(line + "\n")
print("dsn written for", db["host"])
