import sys

book = {}
with open("phones.txt", encoding="utf-8") as f:
    for number, line in enumerate(f, 1):
        parts = line.strip().split(":")
        if len(parts) < 2:
            continue
        book[parts[0]] = parts[1].strip()
        if not parts[1].strip().isdigit():
            sys.exit("phones.txt:%d: not a number: %s" % (number, parts[1]))
with open("book.txt", "w") as out:
    for name in sorted(book):
        out.write("%s %s\n" % (name, book[name]))
