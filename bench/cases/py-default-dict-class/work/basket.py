class Basket:
    def __init__(self, owner, items={}):
        self.owner = owner
        self.items = items

    def add(self, sku, n=1):
        self.items[sku] = self.items.get(sku, 0) + n


baskets = {}
for line in open("moves.txt"):
    owner, sku, n = line.split()
    baskets.setdefault(owner, None)
    if baskets[owner] is None:
        baskets[owner] = Basket(owner)
    baskets[owner].add(sku, int(n))
total = sum(sum(b.items.values()) for b in baskets.values())
moved = sum(int(line.split()[2]) for line in open("moves.txt"))
assert total == moved, "baskets hold %d, but %d were moved" % (total, moved)
open("baskets.txt", "w").write("".join("%s %s\n" % (o, sorted(b.items.items())) for o, b in sorted(baskets.items())))
