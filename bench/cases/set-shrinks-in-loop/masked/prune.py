import pathlib

HERE = pathlib.Path(__file__).parent


class Index:
    def __init__(self, path):
        self.path = path
        self.hosts = set(path.read_text().split())

    def prune(self):
        for host in self.hosts:
            if host.startswith("old-"):
                self.hosts.remove(host)

    def save(self):
        self.path.write_text("\n".join(sorted(self.hosts)) + "\n")


index = Index(HERE / "hosts.txt")
index.save()
