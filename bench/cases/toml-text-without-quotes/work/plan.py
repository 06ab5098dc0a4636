import tomllib

with open("backup.toml", "rb") as f:
    settings = tomllib.load(f)
with open("plan.txt", "w") as out:
    for name, job in settings["jobs"].items():
        out.write("%s %s %d\n" % (name, job["source"], job["keep"]))
