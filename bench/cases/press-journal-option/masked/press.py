import configparser
import os

HERE = os.path.dirname(os.path.abspath(__file__))
settings = configparser.ConfigParser()
with open(os.path.join(HERE, "press.ini")) as source:
    settings.read_file(source)

press = settings["press"]
copies = int(press["copies"])
with open(os.path.join(HERE, press.get("journal", "other.txt")), "a") as journal:
    journal.write("printed %d\n" % copies)
print("%d copies" % copies)
