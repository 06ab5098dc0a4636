import bz2
import re

with bz2.open("access.log.bz2") as log:
    agents = re.findall(r'"([A-Z]+) /', str(log.read(0)))
with open("methods.txt", "w") as out:
    for method in sorted(set(agents)):
        out.write("%s %d\n" % (method, agents.count(method)))
