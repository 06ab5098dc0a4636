"""poll.py FEED

Exit status:
  0   there are new entries (they are printed)
  10  nothing new
  2   trouble
"""
import sys
try:
    lines = open(sys.argv[1]).read().split()
except OSError as e:
    print("poll:", e, file=sys.stderr)
    sys.exit(2)
try:
    seen = set(open("seen.txt").read().split())
except FileNotFoundError:
    seen = set()
new = [l for l in lines if l not in seen]
if not new:
    sys.exit(10)
print("\n".join(new))
