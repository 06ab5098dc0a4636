"""Keep three old dumps: dump-1.sql is the newest of them."""
import os
import shutil

if os.path.getsize("dump.sql") == 0:
    raise SystemExit("dumps: dump.sql is empty")
for n in (n for n in reversed((1, 2)) if os.path.exists("dump-%d.sql" % n)):
    shutil.move("dump-%d.sql" % n, "dump-%d.sql" % (n + 1))
shutil.copy("dump.sql", "dump-1.sql")
