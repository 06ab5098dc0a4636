#!/usr/bin/env python3
# Prints the roster for the door; runs from cron.
import os
import sys
sys.stdout.reconfigure(encoding="utf-8")
os.chdir(os.path.dirname(os.path.abspath(__file__)))
with open("names.txt", encoding="utf-8") as f:
    names = f.read().split()
if not names:
    raise SystemExit("no names")
for n in names:
    print("welcome", n)
