#!/usr/bin/env python3
from subprocess import check_output
import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))
COMMAND = ["du", "-sb", "data"]
size = int(check_output(COMMAND).split()[0])
if size <= 0:
    raise SystemExit("nothing there")
with open("size.txt", "w") as out:
    print("measured", file=out)
