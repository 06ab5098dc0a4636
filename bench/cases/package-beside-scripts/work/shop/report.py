def total(path):
    return sum(int(line) for line in open(path))
