import os, sys
os.chdir(os.path.dirname(os.path.abspath(__file__)))
LOCK = "sync.pid"
if os.path.exists(LOCK):
    print("another sync is running (pid %s)" % open(LOCK).read().strip(), file=sys.stderr)
    sys.exit(1)
with open(LOCK, "w") as f:
    f.write(str(os.getpid()))
try:
    data = open("in.txt").read()
    open("out.txt", "w").write(data.upper())
finally:
    os.remove(LOCK)
