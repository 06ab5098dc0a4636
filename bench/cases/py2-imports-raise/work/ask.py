import ConfigParser
import StringIO
from urllib import quote

MODE = 0644

class Wrong(StandardError):
    pass

cp = ConfigParser.ConfigParser()
if not cp.read("ask.ini"):
    raise Wrong, "no ask.ini"
buf = StringIO.StringIO()
for k, v in cp.items("query"):
    buf.write("%s=%s\n" % (k, quote(v)))
limit = cp.getint("paging", "limit")
if limit <> 0:
    buf.write("pages=%d\n" % (250L / limit))
open("ask.out", "w").write(buf.getvalue() + oct(MODE)[-3:] + "\n")
