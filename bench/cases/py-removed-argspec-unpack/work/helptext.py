import inspect
from HTMLParser import HTMLParser
from itertools import izip


def send(to, text="hi", copies=1):
    pass


args, varargs, keywords, defaults = inspect.getargspec(send)
named = list(izip(args[-len(defaults):], defaults))
open("help.txt", "w").write(HTMLParser().unescape("send &amp; " + ", ".join("%s=%s" % p for p in named)) + "\n")
