import sys
from configparser import ConfigParser

parser = ConfigParser(strict=True, inline_comment_prefixes=("#",))
if not parser.read(sys.argv[1]):
    sys.exit("no settings: " + sys.argv[1])
with_header = parser.getboolean("export", "header")
lines = open(parser.get("export", "source")).read().splitlines()
with open(parser.get("export", "target"), "w") as out:
    if with_header:
        print("name;stock", file=out)
    for line in lines:
        print(line.replace(",", ";"), file=out)
