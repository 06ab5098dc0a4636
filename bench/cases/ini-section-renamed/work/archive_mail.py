#!/usr/bin/env python3
"""Move old mails into the archive folder that the settings name."""
import configparser
import os
import shutil

conf = configparser.ConfigParser()
if not conf.read("mail.ini"):
    raise SystemExit("mail.ini cannot be read")
source = conf.get("storage", "inbox")
target = conf.get("storage", "archive")
before = conf.get("limits", "before")

os.makedirs(target, exist_ok=True)
moved = 0
for name in sorted(os.listdir(source)):
    if name[:10] < before:
        shutil.move(os.path.join(source, name), os.path.join(target, name))
        moved += 1
print("moved", moved)
