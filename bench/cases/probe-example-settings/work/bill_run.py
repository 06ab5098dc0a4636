import configparser
cp = configparser.ConfigParser()
with open("settings.ini") as f:
    cp.read_file(f)
open("bill.txt", "w").write("to %s: %d\n" % (cp["bill"]["account"], int(cp["bill"]["cents"])))
