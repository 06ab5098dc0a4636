"""A fourth round, labelled and run once after the third had been read: what the parsers make of what they have not met."""


def one(family, name, line, cls, core, tool=None, files=None, at=None, **more):
    case(family, f"second-{name}", line, files or {}, cls, at, core, tool=tool or line.split()[0], **more)


def sh(name, text, cls, core, at="job.sh", run="bash", files=None, tool=None, **more):
    case("shells", f"second-{name}", f"{run} job.sh", {"job.sh": text, **(files or {})}, cls, at, core, tool=tool or run, **more)


sh("loop-in-function", "#!/bin/bash\nset -euo pipefail\narchive() {\n  local dir=$1\n  for f in \"$dir\"/*.csv; do\n@@    xz -9 \"$f\"\n  done\n}\narchive incoming\n", "logic", "incoming/*.csv", tool="xz")
sh("heredoc-node", "#!/bin/bash\nset -e\nnode <<'JS'\nconst rows = null;\n@@console.log(rows.length);\nJS\n", "logic", "Cannot read properties of null", tool="node")
sh("heredoc-ruby", "#!/bin/bash\nset -e\necho a\nruby <<'RB'\nrates = { 'eur' => 1 }\n@@puts rates.fetch('usd')\nRB\n", "dependency", "key not found", tool="ruby")
sh("python-c-lines", "#!/bin/bash\nset -e\nn=3\npython3 -c '\nimport sys\nrows = []\n@@print(rows[0])\n'\n", "logic", "IndexError", tool="python3")
sh("indented-heredoc", "#!/bin/bash\nset -e\nif true; then\n\tpython3 - <<-EOF\n\timport os\n@@\tprint(os.environ[\"FEED_URL\"])\n\tEOF\nfi\n", "environment", "FEED_URL", tool="python3")
sh("sqlite-arg", "#!/bin/bash\nset -e\necho a\n@@sqlite3 shop.db 'select total from orders'\n", "dependency", "orders", tool="sqlite3")
sh("sqlite-redirect", "#!/bin/bash\nset -e\nsqlite3 shop.db < schema.sql\n", "logic", "syntax error", at="schema.sql", files={"schema.sql": "create table a (x);\n\n@@create tabel b (y);\n"}, tool="sqlite3")
sh("own-printf", "#!/bin/bash\nset -e\nrows=$(wc -l < in.csv)\nif [ \"$rows\" -lt 5 ]; then\n@@  printf 'import: only %d of %s rows came, not loading\\n' \"$rows\" 5 >&2\n  exit 3\nfi\n", None, "only 1 of 5 rows came", files={"in.csv": "a\n"})
sh("env-file", "#!/bin/bash\nset -eu\nset -a; . ./.env; set +a\necho \"$A\"\n", "environment", "hunter", at=".env", files={".env": "A=1\n@@B=two hunter\n"})
sh("arith-name", "#!/bin/bash\nset -eu\ntotal=0\nfor n in 3 4x; do\n@@  total=$((total + n))\ndone\n", "logic", "value too great for base")
sh("getopts", "#!/bin/bash\nset -e\n@@while getopts 'd:' o -q; do\n  case $o in d) day=$OPTARG ;; *) exit 2 ;; esac\ndone\n", None, "illegal option -- q")
sh("printf-number", "#!/bin/bash\nset -e\n@@printf '%05d\\n' 12a\necho b\n", "logic", "invalid number")
sh("tar-pipe", "#!/bin/bash\nset -eo pipefail\necho go\n@@tar -C data -cf - . | gzip > out.tgz\n", "logic", "data", tool="tar")
sh("curl-in-function", "#!/bin/bash\nset -euo pipefail\nfetch() {\n@@  curl -fsS --max-time 5 \"http://127.0.0.1:9/$1\" -o \"$1\"\n}\nfetch rates.json\n", "transient", "127.0.0.1 port 9", tool="curl")
sh("mkdir-file", "#!/bin/bash\nset -e\ntouch out\n@@mkdir -p out/today\n", "logic", "Not a directory", tool="mkdir")
sh("sort-key", "#!/bin/bash\nset -e\necho a\n@@sort -k 0 in.txt\n", "logic", "sort", files={"in.txt": "b\n"}, tool="sort")
sh("date-bad", "#!/bin/bash\nset -e\nday=31.12.2024\n@@stamp=$(date -d \"$day\" +%s)\necho $stamp\n", "logic", "invalid date", tool="date")
sh("sub-make", "#!/bin/bash\nset -e\ncd build\nmake -s all\n", "environment", "mdrender", at="build/Makefile", files={"build/Makefile": "all: a.html\n\na.html:\n@@\tmdrender a.md > a.html\n"}, tool="make")
sh("dash-unclosed", "#!/bin/sh\nset -e\necho a\n@@echo \"b\necho c\n", "logic", "Unterminated quoted string", run="sh", tool="dash")
sh("dash-heredoc-python", "#!/bin/sh\nset -e\npython3 - <<EOF\nx = 1\n@@y = x +\nEOF\n", "logic", "SyntaxError", run="sh", tool="python3")
sh("zsh-sourced", "#!/bin/zsh\nset -e\nsource ./lib.zsh\nload prices\n", "environment", "importcsv", at="lib.zsh", run="zsh", files={"lib.zsh": "# library\nload() {\n@@  importcsv $1\n}\n"})
sh("select-lock", "#!/bin/bash\nset -e\nexec 9> job.lock\nflock -n 9\n@@flock -n job.lock true\necho ok\n", None, None, tool="flock")


def py(name, text, cls, core, at="job.py", line="python3 job.py", files=None):
    case("python", f"second-{name}", line, {"job.py": text, **(files or {})}, cls, at, core, tool="python3")


py("process-pool", "from concurrent.futures import ProcessPoolExecutor\n\ndef load(day):\n@@    return open(f'in/{day}.csv').read()\n\nif __name__ == '__main__':\n    with ProcessPoolExecutor(1) as pool:\n        list(pool.map(load, ['mon']))\n", "logic", "in/mon.csv")
py("contextlib", "from contextlib import contextmanager\n\n@contextmanager\ndef stage(name):\n    print('begin', name)\n    yield\n    print('end', name)\n\nwith stage('sum'):\n@@    print(sum([1, '2']))\n", "logic", "TypeError")
py("property", "class Row:\n    @property\n    def price(self):\n@@        return self._prce\n\nprint(Row().price)\n", "dependency", "_prce")
py("deep-package", "import app.main\n", "dependency", "AttributeError", at="app/util/text.py", files={"app/__init__.py": "", "app/main.py": "from app.util.text import clean\nclean('x')\n", "app/util/__init__.py": "", "app/util/text.py": "import string\n\ndef clean(s):\n@@    return string.letters\n"})
py("group-mixed", "def check():\n    errors = []\n    for n in ('a', 'b'):\n        try:\n            int(n)\n        except ValueError as e:\n            errors.append(e)\n    if errors:\n@@        raise ExceptionGroup('bad rows', errors)\n\ncheck()\n", "logic", "bad rows")
py("retry-chain", "import time\n\ndef get():\n    raise ConnectionResetError('peer closed')\n\ndef load():\n    for attempt in (1, 2):\n        try:\n            return get()\n        except OSError as error:\n            last = error\n@@    raise RuntimeError('gave up after 2 attempts') from last\n\nload()\n", "transient", "gave up after 2 attempts")
py("walrus-syntax", "rows = [1, 2]\nfor row in rows:\n@@    if row == 1 and:\n        print(row)\n", "logic", "invalid syntax")
py("doctest", "def double(n):\n    \"\"\"\n    >>> double(2)\n    5\n    \"\"\"\n    return n * 2\n\nimport doctest, sys\nsys.exit(doctest.testmod().failed)\n", "logic", None, at="job.py:3")
py("exit-code-only", "import sys\nsys.exit(4)\n", None, None, at=None)
py("csv-dict", "import csv\nfor row in csv.DictReader(open('in.csv')):\n@@    print(row['amount'])\n", "dependency", "KeyError: 'amount'", files={"in.csv": "name;sum\na;1\n"})

one("node", "import-deep", "node main.mjs", "dependency", "does not provide an export named 'parse'", files={"main.mjs": "import './lib/load.mjs';\n", "lib/load.mjs": "import fs from 'node:fs';\n@@import { parse } from './csv.mjs';\nparse();\n", "lib/csv.mjs": "export default 1;\n"}, at="lib/load.mjs")
one("node", "promise-all", "node job.js", "logic", "amount of row 2 is no number", files={"job.js": "async function check(row) {\n@@  if (row > 1) throw new TypeError(`amount of row ${row} is no number`);\n}\nPromise.all([1, 2].map(check));\n"}, at="job.js")
one("node", "env", "node job.js", "logic", "Invalid URL", files={"job.js": "function base() {\n@@  return new URL(process.env.FEED_URL);\n}\nbase();\n"}, at="job.js")
one("perl", "nested-eval", "perl job.pl", None, "load failed", files={"job.pl": "use strict;\nsub inner { die \"no rows\\n\" }\nsub outer {\n  eval { inner() };\n@@  die \"load failed: $@\" if $@;\n}\nouter();\n"}, at="job.pl")
one("perl", "hash-ref", "perl job.pl", "logic", "Not a HASH reference", files={"job.pl": "use strict;\nmy $row = [1, 2];\n@@print $row->{price};\n"}, at="job.pl")
one("make", "ifeq", "make", "logic", "missing", files={"Makefile": "all: x\nifeq ($(A),1)\nx:\n\techo a\n"}, at="Makefile:5")
one("make", "parallel", "make -j2 all", "environment", "shrinkpng", files={"Makefile": "all: a b\n\na:\n\t@echo a\n\nb:\n@@\t@shrinkpng b.png\n"}, at="Makefile")
one("awk", "second-function", "gawk -f sum.awk in.txt", "logic", "syntax error", files={"sum.awk": "function total(a) {\n  return a\n}\n{ s += $1 }\n@@END { print total(s) +* 2 }\n", "in.txt": "1\n"}, at="sum.awk")
one("sed", "expression", "sed 's/a/b' in.txt", "logic", "unterminated `s' command", files={"in.txt": "a\n"})
one("jq", "number", "jq '.a + 1' a.json", "logic", "cannot be added", files={"a.json": "{\"a\": \"x\"}\n"})
one("archives", "member-dir", "tar -xzf a.tgz -C /nowhere/at/all", "logic", "/nowhere/at/all", tool="tar", setup="touch x; tar -czf a.tgz x")
one("rsync", "dest", "rsync -a a.txt no/such/dir/b.txt", "logic", "no/such/dir", files={"a.txt": "x"})
one("curl", "out-dir", "curl -fsS file:///etc/hostname -o none/x", "logic", "curl: (23)", tool="curl")
one("git", "tag", "git checkout v9.9", "dependency", "v9.9", setup="git init -q . && git config user.email a@b.c && git config user.name a && git commit -q --allow-empty -m a")
one("sql", "missing-file", "sqlite3 a.db '.read none.sql'", "logic", "none.sql", tool="sqlite3")
one("data", "yaml-tab", "python3 -c \"import yaml; yaml.safe_load(open('a.yml'))\"", "logic", "found character", tool="python3", files={"a.yml": "a:\n@@\tb: 1\n"}, at="a.yml")
one("php", "json", "php job.php", "logic", "Syntax error", files={"job.php": "<?php\nfunction load() {\n@@  return json_decode('{', flags: JSON_THROW_ON_ERROR);\n}\nload();\n"}, at="job.php")
one("ruby", "io", "ruby job.rb", "logic", "No such file or directory", files={"job.rb": "def load\n@@  File.readlines('in/rates.csv')\nend\nload\n"}, at="job.rb")
