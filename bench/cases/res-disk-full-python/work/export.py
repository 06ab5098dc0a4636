import os
open("runs", "a").write("x")
with open("volume/export.csv", "w") as f:
    for i in range(5000):
        f.write("%d;line\n" % i)
print("exported")
