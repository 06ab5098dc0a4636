import os
queue = os.environ["QUEUE"]
level = int(os.environ["LEVEL"])
lines = [l for l in open(queue) if int(l) >= level]
open("picked.txt", "w").writelines(lines)
