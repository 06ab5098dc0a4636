import os
import pathlib
BOOKS = pathlib.Path("books")
total = 0
for line in open(os.path.join(BOOKS, "ledger.txt")):
    name, amount = line.split()
    total += int(amount)
pathlib.Path("total.txt").write_text("%d\n" % total)
