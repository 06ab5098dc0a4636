"""Keep three old dumps: dump-1.sql is the newest of them."""
import os
import shutil

if os.path.getsize("dump.sql") == 0:
    raise SystemExit("dumps: dump.sql is empty")
for n in (1, 2):
    shutil.move("dump-%d.sql" % n, "dump-%d.sql" % (n + 1))
shutil.copy("dump.sql", "dump-1.sql")
