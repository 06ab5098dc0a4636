from configparser import ConfigParser
import pathlib

base = pathlib.Path(__file__).parent
c = ConfigParser()
c.read_file(open(base / "stamp.conf"))
fmt = "07.05."
out = fmt.replace("%d", "07").replace("%m", "05")
(base / "out.txt").write_text(out + "\n")
