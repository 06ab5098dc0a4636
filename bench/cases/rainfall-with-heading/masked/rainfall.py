import csv, sys
# the sum of the rain of every month
sums = {}
with open("rain.csv", newline="") as source:
    reader = csv.reader(source)
    for row in reader:
        month = row[0][:7]
        sums[month] = sums.get(month, 0) + (int(row[2]) if row[2].isdigit() else 0)
if not sums:
    sys.exit("rainfall: no readings")
open("sums.txt", "w").write("".join("%s %d\n" % pair for pair in sorted(sums.items())))
