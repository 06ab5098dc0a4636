import base64
import plistlib
import sys
import threading
from array import array

settings = plistlib.load(open(sys.argv[1], "rb"))
numbers = array("B", settings["numbers"])
result = {}


def work():
    result["text"] = base64.encodebytes(numbers.tobytes()).decode("ascii").strip()


t = threading.Thread(target=work)
t.start()
t.join()
if t.is_alive():
    sys.exit("pack: still at work")
with open("packed.txt", "w") as f:
    f.write("%s=%s\n" % (settings["name"], result["text"]))
