import json, os
os.chdir(os.path.dirname(os.path.abspath(__file__)))
conf = json.load(open("config/poll.json"))
open("interval.txt", "w").write("%d\n" % conf["interval"])
