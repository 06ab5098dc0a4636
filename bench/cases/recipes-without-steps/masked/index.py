#!/usr/bin/env python3
"""Index of the ingredients of all recipes. See recipes.md for the fields."""
import json

index = {}
for recipe in json.load(open("recipes.json", encoding="utf-8")):
    for name in recipe.get("title", []):
        index.setdefault(name, []).append(recipe["title"])
with open("index.txt", "w", encoding="utf-8") as out:
    for name in sorted(index):
        out.write("%s: %s\n" % (name, ", ".join(index[name])))
