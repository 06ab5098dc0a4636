import tomllib


def limit(cfg, name):
    section = cfg["rate_limits"][name]
    return section["per_minute"] * section["burst_factor"]


with open("gateway.toml", "rb") as f:
    config = tomllib.load(f)
with open("limits.txt", "w") as out:
    for name in ("login", "search"):
        out.write("%s %d\n" % (name, limit(config, name)))
