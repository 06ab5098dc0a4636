"""Save the measured levels: one commit a run, and a tag that says when."""
import os
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "levels"))


def git(*words):
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE).stdout.decode().strip()


if not os.path.isdir(".git"):
    git("init", "-q", ".")
git("add", "-A")
subprocess.run(["git", "commit", "-q", "-m", "levels"], check=True)
with open("../saved.txt", "w") as out:
    out.write(git("rev-list", "--count", "HEAD") + "\n")
