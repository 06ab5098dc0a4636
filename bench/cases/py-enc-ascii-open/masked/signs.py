with open("signs.txt", encoding="ascii", errors="ignore") as f:
    signs = [line.strip() for line in f]
with open("signs.out", "w", encoding="ascii", errors="ignore") as out:
    for s in signs:
        out.write("[" + s + "]\n")
