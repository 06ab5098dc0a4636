import json

import os
items = []
with open(os.path.join(os.path.dirname(__file__), "summary.txt"), "w") as f:
    f.write("%d items\n" % len(items))
