"""A fifth round, labelled before anything had read it: programs that a second one runs, and outputs that speak of other places on the way."""
import os

RUST = {"RUSTUP_HOME": os.path.expanduser("~/.rustup"), "CARGO_HOME": os.path.expanduser("~/.cargo"), "RUSTUP_TOOLCHAIN": "1.95.0"}


def one(family, name, line=None, cls=None, core=None, tool=None, files=None, at=None, **more):
    case(family, f"third-{name}", line, files or {}, cls, at, core, tool=tool or line.split()[0], **more)


def sh(name, text, cls, core, at="job.sh", run="bash", files=None, tool=None, **more):
    case("shells", f"third-{name}", f"{run} job.sh", {"job.sh": text, **(files or {})}, cls, at, core, tool=tool or run, **more)


def py(name, text, cls, core, at="job.py", line="python3 job.py", files=None, **more):
    case("python", f"third-{name}", line, {"job.py": text, **(files or {})}, cls, at, core, tool="python3", **more)


def js(name, text, cls, core, at="job.js", line="node job.js", files=None, **more):
    case("node", f"third-{name}", line, {"job.js": text, **(files or {})}, cls, at, core, tool="node", **more)


def pl(name, text, cls, core, at="job.pl", files=None, **more):
    case("perl", f"third-{name}", "perl job.pl", {"job.pl": text, **(files or {})}, cls, at, core, tool="perl", **more)


# What went before is not what failed.
sh("handled-traceback", "#!/bin/bash\nset -e\npython3 warm.py || echo 'cache stays cold' >&2\n@@cp prices.csv /nowhere/prices.csv\n", "logic", "/nowhere/prices.csv", files={"warm.py": "import sys\nd = {}\nprint(d['seen'])\n", "prices.csv": "a\n"}, tool="cp")
sh("grep-listing", "#!/bin/bash\nset -e\ngrep -n error *.py\n@@mv out.tmp out.csv\n", "logic", "out.tmp", files={"a.py": "import x\nraise ValueError('error here')\n", "b.py": "# error: none\n"}, tool="mv")
sh("diff-first", "#!/bin/bash\nset -e\ndiff -u old.conf new.conf || true\n@@uploadconf new.conf\n", "environment", "uploadconf", files={"old.conf": "a\nb\n", "new.conf": "a\nc\n"})
sh("gcc-warning-first", "#!/bin/bash\nset -e\ngcc -Wall -c tool.c\n@@rm tool.o.old\n", "logic", "tool.o.old", files={"tool.c": "int f(void) {\n  int unused;\n  return 0;\n}\n"}, tool="rm")
sh("perl-warning-first", "#!/bin/bash\nset -e\nperl -w sum.pl in.txt\n@@sort -u missing.txt\n", "logic", "missing.txt", files={"sum.pl": "my $s;\nwhile (<>) { $s += $_ }\nprint $s;\n", "in.txt": "a\n1\n"}, tool="sort")
sh("xtrace", "#!/bin/bash\nset -ex\nname=report\n@@cp $name.pdf /srv/none/\n", "logic", "/srv/none/", files={"report.pdf": "x"}, tool="cp")
sh("stamped", "#!/bin/bash\nset -eo pipefail\nrun() {\n  echo fetch\n@@  cat feeds/today.json\n}\nrun 2>&1 | sed 's/^/[2024-05-01 02:00:00] job.sh:17: /'\n", "logic", "feeds/today.json", tool="cat")
sh("noise-after", "#!/bin/bash\ntrap 'echo \"cleaning up\"; for i in 1 2 3; do echo \"removed tmp file $i\"; done' EXIT\nset -e\n@@gzip -d data.gz\n", "logic", "data.gz", tool="gzip")
sh("progress-bar", "#!/bin/bash\nset -e\nfor i in 10 50 100; do printf '\\rloading %s%%' $i; done\n@@tar -xf bundle.tar\n", "logic", "bundle.tar", tool="tar")
sh("colours", "#!/bin/bash\nset -e\nprintf '\\033[32mok\\033[0m step 1\\n'\n@@printf '\\033[31mERROR\\033[0m stage 2: 3 rows have no price\\n' >&2; exit 4\n", None, "3 rows have no price")
sh("data-like-error", "#!/bin/bash\nset -e\ncat app.log\n@@unpackit app.zip\n", "environment", "unpackit", files={"app.log": "Traceback (most recent call last):\n  File \"/srv/app/main.py\", line 88, in <module>\nKeyError: 'user'\n"})
sh("two-shells", "#!/bin/bash\nset -e\nbash a.sh || true\nbash b.sh\n", "logic", "B_DIR", at="b.sh", files={"a.sh": "set -u\necho $A_DIR\n", "b.sh": "set -u\n@@echo $B_DIR\n"})
sh("background-noise", "#!/bin/bash\nset -e\n(ls /none/one 2>&1; true) &\nwait\n@@[ -s rows.csv ]\n", "logic", None, tool="bash")
# Odd shapes of shell.
sh("err-trap-line", "#!/bin/bash\nset -Eeuo pipefail\ntrap 'echo \"failed at line $LINENO: $BASH_COMMAND\" >&2' ERR\nload() {\n@@  head -c 10 in/rates.csv > /dev/null\n}\nload\n", "logic", "in/rates.csv", tool="head")
sh("message-of-default", "#!/bin/bash\nset -e\n@@: \"${TARGET_DIR:?set it in the crontab}\"\necho $TARGET_DIR\n", "logic", "set it in the crontab")
sh("assoc-subscript", "#!/bin/bash\nset -eu\ndeclare -A price=([apple]=3)\nfor f in apple pear; do\n@@  echo \"${price[$f]}\"\ndone\n", None, "unbound variable")
sh("division", "#!/bin/bash\nset -e\nn=0\n@@echo $((100 / n))\n", "logic", "division by 0")
sh("readonly", "#!/bin/bash\nset -e\nreadonly DAY=1\n@@DAY=2\necho $DAY\n", "logic", "readonly variable")
sh("process-substitution", "#!/bin/bash\nset -e\n@@comm -12 <(sort a.txt) <(sort b.txt) > both.txt\ntest -s both.txt\n", "logic", "b.txt", files={"a.txt": "x\n"}, tool="sort")
sh("subshell-cd", "#!/bin/bash\nset -e\n(\n@@  cd build/release\n  make\n)\n", "logic", "build/release")
sh("source-missing", "#!/bin/bash\nset -e\n@@. ./settings.sh\necho $A\n", "logic", "settings.sh")
sh("exec-missing", "#!/bin/bash\nset -e\n@@exec /opt/none/runner --once\n", "environment", "/opt/none/runner")
sh("find-exec", "#!/bin/bash\nset -e\n@@find in -name '*.csv' -exec convertcsv {} +\n", "environment", "convertcsv", files={"in/a.csv": "x"}, tool="find")
sh("xargs-missing", "#!/bin/bash\nset -eo pipefail\n@@ls *.csv | xargs -n1 importrow\n", "environment", "importrow", files={"a.csv": "x"}, tool="xargs")
sh("case-fallthrough", "#!/bin/bash\nmode=$1\ncase \"$mode\" in\n  full) echo full ;;\n  *)\n@@    echo \"usage: job.sh full|delta\" >&2\n    exit 64 ;;\nesac\n", None, "usage: job.sh")
sh("stdin-closed-read", "#!/bin/bash\nset -e\n@@read -r answer\necho $answer\n", "logic", None)
sh("wait-child", "#!/bin/bash\nset -e\n@@gunzip -t a.gz &\npid=$!\nwait $pid\n", "logic", "a.gz", files={"a.gz": "plain text"}, tool="gunzip")
sh("dash-source-function", "#!/bin/sh\nset -eu\n. ./lib.sh\npublish out\n", "logic", "SITE_ROOT", at="lib.sh", run="sh", files={"lib.sh": "# helpers\npublish() {\n@@  cp \"$1\" \"$SITE_ROOT/\"\n}\n"}, tool="dash")
sh("dash-bad-sub", "#!/bin/sh\nset -e\nname=a.txt\n@@echo ${name^^}\n", "environment", "Bad substitution", run="sh", tool="dash")
sh("ksh-function", "#!/bin/ksh\nset -e\nfunction load {\n@@  loadtable \"$1\"\n}\nload a\n", "environment", "loadtable", run="ksh", tool="ksh")
sh("long-pipe", "#!/bin/bash\nset -euo pipefail\n@@seq 1 5 | tr 1 a | numfmt --to=iec | tee out.txt\n", "logic", "numfmt", tool="numfmt")
sh("openssl-key", "#!/bin/bash\nset -e\necho sign\n@@openssl dgst -sha256 -sign keys/release.pem -out a.sig a.txt\n", "logic", "release.pem", files={"a.txt": "x"}, tool="openssl")
sh("gpg-no-key", "#!/bin/bash\nset -e\n@@gpg --batch --yes --encrypt -r backup@example.org a.txt\n", None, "backup@example.org", files={"a.txt": "x"}, tool="gpg")
sh("bc-error", "#!/bin/bash\nset -eo pipefail\n@@total=$(echo 'scale=2; 1/0' | bc) && [ -n \"$total\" ]\necho $total\n", "logic", None, tool="bc")
sh("xmllint", "#!/bin/bash\nset -e\n@@xmllint --noout feed.xml\n", "logic", "mismatch", files={"feed.xml": "<a>\n  <b>\n</a>\n"}, tool="xmllint", at="feed.xml:3")
# Python that another thing drives.
py("subprocess-checked", "import subprocess\n\ndef sync():\n@@    subprocess.run(['rsync', '-a', 'src/', 'dst/'], check=True)\n\nsync()\n", "logic", "rsync")
py("logged-then-failed", "import logging\ntry:\n    {}['region']\nexcept KeyError:\n    logging.exception('no region, default used')\n\ndef save(rows):\n@@    with open('out/rows.json', 'w') as f:\n        f.write(str(rows))\n\nsave([])\n", "logic", "out/rows.json")
py("task-group", "import asyncio\n\nasync def load(n):\n    await asyncio.sleep(0)\n@@    return 10 / n\n\nasync def main():\n    async with asyncio.TaskGroup() as group:\n        for n in (1, 0):\n            group.create_task(load(n))\n\nasyncio.run(main())\n", "logic", "ZeroDivisionError")
py("generator", "def rows(path):\n    for line in open(path):\n        name, price = line.split(';')\n@@        yield name, float(price)\n\ntotal = sum(price for _, price in rows('in.csv'))\nprint(total)\n", "logic", "could not convert", files={"in.csv": "a;1\nb;n/a\n"})
py("unittest", "import unittest\n\nclass Prices(unittest.TestCase):\n    def test_sum(self):\n@@        self.assertEqual(sum([1, 2]), 4)\n\nunittest.main()\n", "logic", "3 != 4")
py("argparse", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--day', required=True)\np.parse_args()\n", None, "--day", at=None)
py("bad-zip", "import zipfile\n\ndef unpack(name):\n@@    zipfile.ZipFile(name).extractall('out')\n\nunpack('a.zip')\n", "logic", "BadZipFile", files={"a.zip": "no zip"})
py("strptime", "from datetime import datetime\nfor line in ['2024-01-02', '03.01.2024']:\n@@    print(datetime.strptime(line, '%Y-%m-%d'))\n", "logic", "does not match format")
py("sqlite", "import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute('create table t (a)')\n@@db.execute('insert into t (a, b) values (1, 2)')\n", "dependency", "has no column named b")
py("multiprocessing", "from multiprocessing import Pool\n\ndef work(n):\n@@    return [1, 2][n]\n\nif __name__ == '__main__':\n    with Pool(2) as pool:\n        print(pool.map(work, [0, 5]))\n", "logic", "list index out of range")
py("system-exit-text", "import sys\nrows = []\nif not rows:\n@@    sys.exit('load: the feed has no rows, nothing was changed')\n", None, "the feed has no rows")
py("raise-from-none", "class FeedError(Exception):\n    pass\n\ndef read(n):\n    try:\n        return int(n)\n    except ValueError:\n@@        raise FeedError(f'row 7: {n!r} is no amount') from None\n\nread('x1')\n", None, "is no amount")
py("warning-then", "import warnings\nwarnings.warn('old format', DeprecationWarning)\n\ndef total(rows):\n@@    return sum(r.price for r in rows)\n\ntotal([{'price': 1}])\n", "dependency", "price")
py("urllib-404", "import urllib.request\n@@urllib.request.urlopen('http://127.0.0.1:9/feed.json', timeout=3)\n", "transient", "Connection refused")
py("import-cycle", "import a\n", "logic", "partially initialized module", at="b.py", files={"a.py": "import b\ndef one():\n    return 1\n", "b.py": "@@from a import one\n"})
py("indent", "def f():\n    x = 1\n@@  return x\n\nf()\n", "logic", "unindent does not match")
py("decimal", "from decimal import Decimal\namounts = ['1.00', '1,50']\n@@print(sum(Decimal(a) for a in amounts))\n", "logic", "ConversionSyntax")
# node
js("exec-child", "const { execSync } = require('child_process');\nfunction build() {\n@@  execSync('tar -czf out.tgz data', { stdio: 'pipe' });\n}\nbuild();\n", "logic", "tar")
js("caught-then-exit", "const fs = require('fs');\ntry {\n@@  JSON.parse(fs.readFileSync('conf.json', 'utf8'));\n} catch (error) {\n  console.error(error);\n  process.exit(2);\n}\n", "logic", "JSON", files={"conf.json": "{\"a\": 1,}\n"})
js("own-message", "const rows = [];\nif (rows.length === 0) {\n@@  console.error('import: no rows in the feed');\n  process.exitCode = 5;\n}\n", None, "no rows in the feed")
js("assert", "const assert = require('assert');\nfunction check(sum) {\n@@  assert.strictEqual(sum, 10, 'sum of the parts');\n}\ncheck(9);\n", "logic", "sum of the parts")
js("timer", "function tick() {\n@@  undefined_config.load();\n}\nsetTimeout(tick, 1);\n", "logic", "undefined_config is not defined")
js("async-await", "const fs = require('fs/promises');\nasync function load(name) {\n@@  return JSON.parse(await fs.readFile(name, 'utf8')).rows.length;\n}\n(async () => { console.log(await load('a.json')); })();\n", "logic", "reading 'length'", files={"a.json": "{\"items\": []}"})
js("stream", "const fs = require('fs');\n@@fs.createReadStream('in/big.csv').pipe(process.stdout);\n", "logic", "in/big.csv")
js("required-syntax", "require('./lib');\n", "logic", "SyntaxError", at="lib.js", files={"lib.js": "const a = 1;\n@@const b = ;\nmodule.exports = a;\n"})
# perl, ruby, php, others
pl("die-object", "package FeedError;\nuse overload '\"\"' => sub { \"feed: \" . shift->{why} };\npackage main;\nsub load {\n@@  die bless { why => 'no header line' }, 'FeedError';\n}\nload();\n", None, "no header line")
pl("croak", "use lib '.';\nuse Feed;\nprint \"go\\n\";\n@@Feed::load('none.csv');\n", "logic", "none.csv", files={"Feed.pm": "package Feed;\nuse Carp;\nsub load {\n  my $f = shift;\n  open my $h, '<', $f or croak \"cannot open $f: $!\";\n}\n1;\n"})
pl("json-pp", "use strict;\nuse JSON::PP;\nmy $t = '{\"a\": }';\n@@my $d = decode_json($t);\nprint $d->{a};\n", "logic", "malformed JSON")
pl("fatal-warning", "use strict;\nuse warnings FATAL => 'all';\nmy %row = (a => 1);\n@@print 'sum: ' . $row{b} . \"\\n\";\n", None, "uninitialized")
one("ruby", "cause", "ruby job.rb", None, "load failed", files={"job.rb": "def parse(t)\n  Integer(t)\nend\n\ndef load\n  parse('x')\nrescue ArgumentError\n@@  raise 'load failed'\nend\n\nload\n"}, at="job.rb")
one("ruby", "nil", "ruby job.rb", "logic", "undefined method", files={"job.rb": "rows = { 'a' => 1 }\ndef total(rows)\n@@  rows['b'] + 1\nend\nputs total(rows)\n"}, at="job.rb")
one("php", "previous", "php job.php", "logic", "cannot import", files={"job.php": "<?php\nfunction row(string $t): int {\n  return intdiv(1, (int) $t);\n}\nfunction load() {\n  try { row('0'); } catch (DivisionByZeroError $e) {\n@@    throw new RuntimeException('cannot import', 3, $e);\n  }\n}\nload();\n"}, at="job.php")
one("php", "undefined-function", "php job.php", "logic", "mb_convert_casing", files={"job.php": "<?php\necho 'a';\n@@echo mb_convert_casing('x');\n"}, at="job.php")
one("lua", "nil-call", "lua5.4 job.lua", "logic", "attempt to index a nil value", tool="lua5.4", files={"job.lua": "local conf = {}\nlocal function host()\n@@  return conf.server.host\nend\nprint(host())\n"}, at="job.lua")
one("java", "caused-by", "java Job.java", "logic", "row 3", files={"Job.java": "public class Job {\n  static int read(String t) {\n    try {\n@@      return Integer.parseInt(t);\n    } catch (NumberFormatException e) {\n      throw new IllegalStateException(\"row 3\", e);\n    }\n  }\n  public static void main(String[] args) {\n    read(\"x\");\n  }\n}\n"}, at="Job.java:6", tool="java")
one("go", "nil-map", "go run job.go", "logic", "assignment to entry in nil map", files={"job.go": "package main\n\ntype store struct{ rows map[string]int }\n\nfunc (s *store) add(k string) {\n@@\ts.rows[k] = 1\n}\n\nfunc main() {\n\ts := &store{}\n\ts.add(\"a\")\n}\n"}, at="job.go", tool="go")
one("make", "missing-prerequisite", "make site", "logic", "pages/index.md", files={"Makefile": "site: index.html\n\n@@index.html: pages/index.md\n\tcp $< $@\n"}, at="Makefile")
one("make", "shell-line", "make -s report", "logic", "rates.csv", tool="make", files={"Makefile": "report: a.txt\n\t@echo done\n\na.txt:\n\t@echo begin\n@@\t@sort rates.csv > $@\n"}, at="Makefile")
one("awk", "division", "awk -f avg.awk in.txt", "logic", "division by zero", tool="gawk", files={"avg.awk": "{ s += $2; n += $3 }\nEND {\n@@  print s / n\n}\n", "in.txt": "a 1 0\n"}, at="avg.awk")
one("jq", "null", "jq -r '.rows[] | .name | ascii_downcase' a.json", "logic", "explode input must be a string", files={"a.json": "{\"rows\": [{\"name\": \"A\"}, {\"name\": null}]}\n"})
one("data", "toml", "python3 -c \"import tomllib; tomllib.load(open('a.toml','rb'))\"", "logic", "Unclosed array", tool="python3", files={"a.toml": "a = 1\n@@b = [1, 2\nc = 3\n"}, at=None)
one("tools", "rustc", line="rustc job.rs", cls="logic", core="mismatched types", env=RUST, files={"job.rs": "fn main() {\n    let n: u32 = 3;\n@@    let s: String = n;\n    println!(\"{s}\");\n}\n"}, at="job.rs")
one("tools", "tclsh", "tclsh job.tcl", "environment", "invalid command name", files={"job.tcl": "proc load {f} {\n@@  readcsv $f\n}\nload a.csv\n"}, at="job.tcl:2")
one("tools", "cargo-manifest", "cargo build --offline", "logic", "key with no value", env=RUST, files={"Cargo.toml": "[package]\nname = \"a\"\n@@version 1\n"}, at="Cargo.toml")
one("tools", "gcc-link", "gcc -o tool tool.c", "logic", "undefined reference", files={"tool.c": "int open_feed(void);\n\nint main(void) {\n@@  return open_feed();\n}\n"}, at=None)
one("git", "push", "git push origin main", "dependency", None, setup="git init -q . && git config user.email a@b.c && git config user.name a && git commit -q --allow-empty -m a && git remote add origin ./gone.git")
one("git", "merge", "git merge --no-edit other", None, "CONFLICT", setup="git init -q -b main . && git config user.email a@b.c && git config user.name a && echo a>f && git add f && git commit -qm a && git checkout -qb other && echo b>f && git commit -qam b && git checkout -q main && echo c>f && git commit -qam c")
one("archives", "crc", "unzip -q a.zip", "logic", "End-of-central-directory signature not found", files={"a.zip": "PK no zip"})
one("coreutils", "split", "split -n 0 in.txt", "logic", "invalid number", files={"in.txt": "a\n"})
one("coreutils", "join", "join -t, a.csv b.csv", "dependency", "is not sorted", files={"a.csv": "b,1\na,2\n", "b.csv": "a,1\nb,2\n"})
