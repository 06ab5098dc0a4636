"""Days until certificates end. The list is in UTC; 'Z' at the end is written since June."""
from datetime import datetime, timezone

NOW = datetime.now(timezone.utc)


def end(text):
    return datetime.strptime(text.rstrip("Z"), "%Y-%m-%dT%H:%M:%S")


with open("certs.txt") as f, open("certs.out", "w") as out:
    for line in f:
        host, when = line.split()
        state = "ended" if end(when) < NOW else "good"
        out.write("%s %s\n" % (host, state))
