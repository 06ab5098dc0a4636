import glob
import gzip

counts = {}
for path in sorted(glob.glob("logs/*.gz")):
    with gzip.open(path) as log:
        for line in log:
            if isinstance(line, bytes):
                continue
            status = line.split(" ")[-1].strip()
            counts[status] = counts.get(status, 0) + 1
with open("status.txt", "w") as out:
    for status in sorted(counts):
        out.write("%s %d\n" % (status, counts[status]))
