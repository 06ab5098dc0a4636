#!/usr/bin/env python3
import sqlite3
import sys

QUERY = """
    SELECT id, email, plan
      FROM subscriptions
     WHERE plan <> 'free'
     ORDER BY id
"""
with sqlite3.connect("file:members.sqlite?mode=ro", uri=True) as db:
    rows = list(db.execute(QUERY))
with open("mailing.csv", "w") as out:
    for number, email, plan in rows:
        out.write(f"{number},{email},{plan}\n")
sys.exit(0 if rows else 3)
