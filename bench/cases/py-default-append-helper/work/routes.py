def stops(route, out=list()):
    out.extend(s for s in route.split("-") if s)
    return out


lines = open("routes.txt").read().split()
total = 0
for line in lines:
    n = len(stops(line))
    total += n
    print(line, n)
expect = sum(line.count("-") + 1 for line in lines)
if total != expect:
    raise ValueError("counted %d stops instead of %d" % (total, expect))
open("stops.txt", "w").write("%d\n" % total)
