"""List the files that differ from the default branch."""
import os
import subprocess

here = os.path.dirname(os.path.abspath(__file__))
base = "main"
names = subprocess.check_output(["git", "diff", "--name-only", base], cwd=os.path.join(here, "up"), text=True)
with open(os.path.join(here, "touched.txt"), "w") as f:
    f.write(names)
print(len(names.split()), "files")
