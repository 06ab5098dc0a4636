with open("signs.txt", encoding="ascii") as f:
    signs = [line.strip() for line in f]
with open("signs.out", "w", encoding="ascii") as out:
    for s in signs:
        out.write("[" + s + "]\n")
