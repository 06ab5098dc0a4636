#!/usr/bin/env python3
"""Keeps the newest dumps and removes the others."""
import configparser
import pathlib

home = pathlib.Path(__file__).parent
settings = configparser.ConfigParser()
settings.read(home / "prune.ini")
section = settings["dumps"]
keep = section.getint("keep")
dumps = sorted((home / section["folder"]).glob("*.dump"))
for old in dumps[: max(len(dumps) - keep, 0)]:
    print("removing", old.name)
    old.unlink()
