import string

lines = map(string.strip, open("seats.txt").readlines())
rows = filter(lambda l: l and not l.startswith("#"), lines)
print "rows:", len(rows)
table = dict([l.split("=") for l in rows])
first = table.keys()[0]
out = file("seats.out", "w")
for i in xrange(len(rows)):
    out.write(rows[i].upper() + "\n")
for k, v in table.iteritems():
    out.write(`int(v)` + "\n")
out.write(first + " " + unicode(len(table)) + "\n")
out.close()
