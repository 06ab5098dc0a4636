import labelsheet_kit as kit

with open("labels.txt", "w") as out:
    for name in open("names.txt"):
        out.write(kit.label(name.strip()) + "\n")
