import inspect
import html


def send(to, text="hi", copies=1):
    pass


args, varargs, keywords, defaults = inspect.getfullargspec(send)[:4]
named = list(zip(args[-len(defaults):], defaults))
open("help.txt", "w").write(html.unescape("send &amp; " + ", ".join("%s=%s" % p for p in named)) + "\n")
