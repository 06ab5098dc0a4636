import subprocess

out = subprocess.check_output(["sort", "-u", "revs.txt"])
revs = out.strip().split("\n")
with open("revs.out", "w") as f:
    f.write(",".join(revs) + "\n")
