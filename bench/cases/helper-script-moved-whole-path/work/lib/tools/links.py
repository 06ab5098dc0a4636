import sys

with open(sys.argv[1]) as pages:
    for line in pages:
        page, state = line.split()
        if state == "dead":
            print(page)
