import sys
import tomllib

with open("fleet.toml", "rb") as f:
    fleet = {"truck": []}
with open("active.txt", "w") as out:
    for truck in fleet["truck"]:
        if truck["active"]:
            print(truck["plate"], truck["depot"], file=out)
