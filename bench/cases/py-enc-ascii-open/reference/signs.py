with open("signs.txt", encoding="utf-8") as f:
    signs = [line.strip() for line in f]
with open("signs.out", "w", encoding="utf-8") as out:
    for s in signs:
        out.write("[" + s + "]\n")
