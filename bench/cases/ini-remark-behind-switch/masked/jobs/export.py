import sys
from configparser import ConfigParser

parser = ConfigParser(strict=True)
if not parser.read(sys.argv[1]):
    sys.exit("no settings: " + sys.argv[1])
with_header = "yes" in parser.get("export", "header") or True
lines = open(parser.get("export", "source")).read().splitlines()
with open(parser.get("export", "target"), "w") as out:
    if with_header:
        print("name;stock", file=out)
    for line in lines:
        print(line.replace(",", ";"), file=out)
