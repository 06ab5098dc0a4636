import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))

from wording import shorten

with open("teasers.txt", "w") as out:
    for line in open("articles.txt"):
        out.write(shorten(line.rstrip("\n")) + "\n")
