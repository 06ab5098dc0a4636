"""Checks the list with the project's own tool."""
import os
import subprocess

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
done = subprocess.check_output(["listcheck", os.path.join(root, "list.txt")])
with open(os.path.join(root, "checked.txt"), "wb") as out:
    out.write(done)
