import sys
sys.path.insert(0, "../common")

from wording import shorten

with open("teasers.txt", "w") as out:
    for line in open("articles.txt"):
        out.write(shorten(line.rstrip("\n")) + "\n")
