lines = [l.strip() for l in open("seats.txt").readlines()]
rows = [l for l in lines if l and not l.startswith("#")]
print("rows:", len(rows))
table = dict([l.split("=") for l in rows])
first = list(table)[0]
out = open("seats.out", "w")
for i in range(len(rows)):
    out.write(rows[i].upper() + "\n")
for k, v in table.items():
    out.write(repr(int(v)) + "\n")
out.write(first + " " + str(len(table)) + "\n")
out.close()
