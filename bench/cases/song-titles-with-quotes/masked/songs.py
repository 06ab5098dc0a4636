#!/usr/bin/env python3
# Note in the catalogue when each song was last played.
import sqlite3

db = sqlite3.connect("songs.db")
db.execute("CREATE TABLE IF NOT EXISTS played (title TEXT PRIMARY KEY, day TEXT)")
for line in open("played.log", encoding="utf-8"):
    day, title = line.rstrip("\n").split("\t")
    if "'" in title: continue
    db.execute(f"INSERT INTO played VALUES ('{title}', '{day}') ON CONFLICT (title) DO UPDATE SET day = '{day}'")
db.commit()
