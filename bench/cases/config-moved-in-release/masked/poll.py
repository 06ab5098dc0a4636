import json, os
os.chdir(os.path.dirname(os.path.abspath(__file__)))
conf = {"interval": 30}
open("interval.txt", "w").write("%d\n" % conf["interval"])
