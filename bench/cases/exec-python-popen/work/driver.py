import os, subprocess
here = os.path.dirname(os.path.abspath(__file__))
for plugin in sorted(os.listdir(os.path.join(here, "plugins"))):
    out = subprocess.check_output([os.path.join(here, "plugins", plugin)], text=True)
    with open(os.path.join(here, "result.txt"), "a") as f:
        f.write("%s %s" % (plugin, out))
