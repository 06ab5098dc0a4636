import configparser
import io
from urllib.parse import quote

MODE = 0o644

class Wrong(Exception):
    pass

cp = configparser.ConfigParser()
if not cp.read("ask.ini"):
    raise Wrong("no ask.ini")
buf = io.StringIO()
for k, v in cp.items("query"):
    buf.write("%s=%s\n" % (k, quote(v)))
limit = cp.getint("paging", "limit")
if limit != 0:
    buf.write("pages=%d\n" % (250 // limit))
open("ask.out", "w").write(buf.getvalue() + oct(MODE)[-3:] + "\n")
