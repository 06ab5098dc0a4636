import csv, os
os.chdir(os.path.dirname(os.path.abspath(__file__)))
out = open("mean.txt", "w")
for name in sorted(os.listdir("stations")):
    temps = [float(r[1]) for r in csv.reader(open("stations/" + name)) if r]
    if not temps: continue
    # a station without readings is listed with a dash
    mean = sum(temps) / len(temps)
    out.write("%s %s\n" % (name[:-4], "%.1f" % mean if temps else "-"))
out.close()
