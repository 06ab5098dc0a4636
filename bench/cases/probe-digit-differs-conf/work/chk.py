import re, sys
t = open(sys.argv[1]).read()
pools = set(re.findall(r"^pool (\w+)", t, re.M))
for n, l in enumerate(t.splitlines(), 1):
    m = re.match(r"\s*route \S+ (\w+);", l)
    if m and m.group(1) not in pools:
        sys.exit('%s:%d: unknown pool "%s"' % (sys.argv[1], n, m.group(1)))
