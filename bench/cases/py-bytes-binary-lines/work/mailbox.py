count = 0
subjects = []
with open("box.mbox", "rb") as f:
    for line in f:
        if line.startswith("From "):
            count += 1
        elif line.startswith("Subject: "):
            subjects.append(line[9:].strip())
with open("box.txt", "w") as out:
    out.write("%d: %s\n" % (count, "; ".join(subjects)))
