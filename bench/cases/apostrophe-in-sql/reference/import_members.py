#!/usr/bin/env python3
"""Load the membership list into the club database."""
import csv
import sqlite3

con = sqlite3.connect("club.db")
con.execute("CREATE TABLE IF NOT EXISTS member (name TEXT PRIMARY KEY, town TEXT)")
with open("list.csv", newline="") as f:
    for row in csv.DictReader(f):
        con.execute("INSERT OR REPLACE INTO member VALUES (?, ?)", (row["name"], row["town"]))
con.commit()
print(con.execute("SELECT COUNT(*) FROM member").fetchone()[0], "members")
