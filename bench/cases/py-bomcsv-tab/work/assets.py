import csv, sys

def rows(path):
    with open(path, newline="", encoding="utf8") as fh:
        yield from csv.DictReader(fh, delimiter="\t")

total = 0
for r in rows(sys.argv[1] if len(sys.argv) > 1 else "assets.tsv"):
    if not r["tag"]:
        sys.exit("assets: a line without a tag")
    total += int(r["value"])
open("assets.total", "w").write("%d\n" % total)
