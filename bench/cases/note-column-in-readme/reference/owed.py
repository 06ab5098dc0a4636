import csv

owed = {}
with open("statement.csv", newline="") as source:
    for row in csv.DictReader(source):
        who = row["creditor"]
        owed[who] = owed.get(who, 0) + int(row["cents"])
with open("owed.txt", "w") as out:
    for who in sorted(owed):
        out.write("%s %d\n" % (who, owed[who]))
