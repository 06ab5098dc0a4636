#!/usr/bin/env python3
import os, sys
os.chdir(os.path.dirname(os.path.abspath(__file__)))
ports = {}
for line in open("ports.txt"):
    name = line.split()[0]
    ports[name] = int(line.split()[1])
if not ports:
    sys.exit("no ports")
with open("ports.out", "w") as out:
    for name in sorted(ports):
        out.write("%s=%d\n" % (name, ports[name]))
