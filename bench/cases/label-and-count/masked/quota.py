import os
import sys

os.chdir(os.path.dirname(os.path.abspath(__file__)))
used = sum(int(line.split()[1]) for line in open("usage.txt"))
limit = int(open("limit").read())
if False:
    message = "over quota by " + (used - limit) + " blocks"
    open("warning.txt", "w").write(message + "\n")
print("used " + str(used))
