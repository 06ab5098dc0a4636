import os
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

def path(name):
    return os.path.join(ROOT, name)

def load():
    return [(a, float(b)) for a, b in (line.split() for line in open(path("loads.txt")))]
