import sys
from ledgerkit import posted

total = 0
for row in posted("ledger.txt"):
    total += row[1]
with open("total.txt", "w") as out:
    out.write("%d\n" % total)
