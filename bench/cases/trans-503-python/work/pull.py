import os, sys, urllib.error
n = int(open(".n").read()) if os.path.exists(".n") else 0
open(".n", "w").write(str(n + 1))
def get(url):
    if n < 2:
        raise urllib.error.HTTPError(url, 503, "Service Unavailable", {}, None)
    return "data\n"
open("pulled.txt", "w").write(get("https://api.example.org/v1/readings"))
