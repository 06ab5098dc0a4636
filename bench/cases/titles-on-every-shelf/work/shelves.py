import sys

SHELVES = ["a", "b", "c"]

lent = dict.fromkeys(SHELVES, [])
for line in open("lent.txt"):
    shelf, title = line.split(None, 1)
    lent[shelf].append(title.strip())
found = sum(len(titles) for titles in lent.values())
wanted = int(open("count.txt").read())
if found != wanted:
    sys.exit("shelves: %d titles on the shelves, the count is %d" % (found, wanted))
with open("shelves.txt", "w") as out:
    for shelf in SHELVES:
        out.write("%s %s\n" % (shelf, ", ".join(sorted(lent[shelf]))))
