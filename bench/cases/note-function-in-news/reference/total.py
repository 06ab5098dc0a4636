import sys
from ledgerkit import settled

total = 0
for row in settled("ledger.txt"):
    total += row[1]
with open("total.txt", "w") as out:
    out.write("%d\n" % total)
