#!/usr/bin/env python3
"""state.json becomes state-1.json, the old state-1.json state-2.json, and so on; five are kept."""
import os, shutil

for number in (4, 3, 2, 1):
    os.rename("state-%d.json" % number, "state-%d.json" % (number + 1))
shutil.copyfile("state.json", "state-1.json")
print("kept", len([n for n in os.listdir(".") if n.startswith("state-")]))
