import sqlite3
import sys

with open(sys.argv[2]) as query:
    for row in sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True).execute(query.read()):
        print(*row, sep=";")
