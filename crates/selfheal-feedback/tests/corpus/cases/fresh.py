"""A third round: jobs of several files, texts within texts and tools in scripts, labelled before anything had read them."""


def one(family, name, line, cls, core, tool=None, files=None, at=None, **more):
    case(family, name, line, files or {}, cls, at, core, tool=tool or line.split()[0], **more)


def sh(name, text, cls, core, at="job.sh", run="bash", files=None, tool=None, family="shells", **more):
    case(family, f"fresh-{name}", f"{run} job.sh", {"job.sh": text, **(files or {})}, cls, at, core, tool=tool or run, **more)


# Shells: functions, files that are read in, pipelines, subshells, here-documents, texts in texts.
sh("nested-function", "#!/bin/bash\nset -eu\nstamp() {\n  local day=$1\n@@  dateadd \"$day\" 3\n}\nreport() {\n  stamp monday\n}\nreport\n", "environment", "dateadd")
sh("sourced-unset", "#!/bin/bash\nset -u\nsource lib/common.sh\nsend\n", "logic", "MAIL_TO", at="lib/common.sh",
   files={"lib/common.sh": "# common\nsend() {\n  local text=ok\n@@  echo \"$text\" \"$MAIL_TO\"\n}\n"})
sh("sourced-syntax", "#!/bin/bash\nset -e\n. conf/settings.sh\necho \"$A\"\n", "logic", "syntax error", at="conf/settings.sh",
   files={"conf/settings.sh": "A=1\nB=2\n@@for f in a b; C=3; done\n"})
sh("pipe-in-function", "#!/bin/bash\nset -eo pipefail\ncount() {\n@@  cut -d, -f0 in.csv | sort | uniq -c\n}\necho begin\ncount\n", "logic", "fields are numbered from 1", files={"in.csv": "a,b\n"}, tool="cut")
sh("heredoc-python", "#!/bin/bash\nset -e\nN=3\npython3 - <<'EOF'\nrows = {'a': 1}\nfor name in ['a', 'b']:\n@@    print(rows[name])\nEOF\necho done\n", "dependency", "KeyError: 'b'", tool="python3")
sh("heredoc-sqlite", "#!/bin/bash\nset -e\ndb=shop.db\nsqlite3 \"$db\" <<'SQL'\nCREATE TABLE a (x);\nINSERT INTO a VALUES (1);\n@@SELECT total FROM orders;\nSQL\necho end\n", "dependency", "orders", tool="sqlite3")
sh("heredoc-bash", "#!/bin/bash\nset -e\necho start\nbash -e <<'EOS'\ncd .\n@@publishall now\nEOS\necho end\n", "environment", "publishall")
sh("inner-bash-c", "#!/bin/bash\nset -e\necho start\nbash -c '\n  set -e\n  cd .\n@@  pushmetrics 5\n'\n", "environment", "pushmetrics")
sh("heredoc-perl", "#!/bin/bash\nset -e\nperl <<'EOF'\nmy %h = (a => 1);\n@@die \"no rate for USD\\n\" unless $h{USD};\nEOF\n", None, "no rate for USD", tool="perl")
sh("heredoc-perl-line", "#!/bin/bash\nset -e\necho x\nperl -w <<'EOF'\nuse strict;\nmy $n = 0;\n@@print 5 / $n;\nEOF\n", "logic", "division by zero", tool="perl")
sh("awk-program", "#!/bin/bash\nset -e\nawk -F, '\n  NR > 1 {\n    total += $2\n@@    print total / (NR - 2)\n  }\n' in.csv\n", "logic", "division by zero", files={"in.csv": "a,b\n1,2\n3,4\n"}, tool="mawk")
sh("awk-syntax", "#!/bin/bash\nset -e\necho x\nawk '\n  { n++ }\n@@  END { print n ) }\n' in.csv\n", "logic", "syntax error", files={"in.csv": "a,b\n"}, tool="mawk")
sh("gawk-syntax", "#!/bin/bash\nset -e\necho x\ngawk '\n  { n++ }\n@@  END { print n ) }\n' in.csv\n", "logic", "syntax error", files={"in.csv": "a,b\n"}, tool="gawk")
sh("sed-expression", "#!/bin/bash\nset -e\nwhile read -r host; do\n@@  sed \"s/@HOST@/$host\" template.conf\ndone < hosts\n", "logic", "unterminated `s' command", files={"hosts": "web1\n", "template.conf": "h @HOST@\n"}, tool="sed")
sh("perl-e", "#!/bin/bash\nset -e\nsize=x\n@@perl -e 'print 1 + ) 2;'\n", "logic", "syntax error", tool="perl")
sh("jq-filter", "#!/bin/bash\nset -euo pipefail\njq -r '.items[] | .name' a.json > names\n@@jq -r '.items | map(.price' a.json\n", "logic", "syntax error", files={"a.json": "{\"items\": [{\"name\": \"x\"}]}\n"}, tool="jq")
sh("jq-index", "#!/bin/bash\nset -euo pipefail\nf() {\n  local key=$1\n@@  jq -r --arg k \"$key\" '.[$k].price' a.json\n}\nf x\n", "logic", "Cannot index array with string", files={"a.json": "[1, 2]\n"}, tool="jq")
sh("jq-iterate-null", "#!/bin/bash\nset -eo pipefail\n@@jq -r '.results[]' a.json | sort\n", "dependency", "Cannot iterate over null", files={"a.json": "{\"items\": [1]}\n"}, tool="jq")
sh("division", "#!/bin/bash\nset -e\nshare() {\n@@  echo $(( 100 / $1 ))\n}\nshare 5\nshare 0\n", "logic", "division by 0")
sh("octal", "#!/bin/bash\nset -e\nm=08\n@@next=$(( m + 1 ))\necho $next\nexit 3\n", "logic", "value too great for base")
sh("integer-expected", "#!/bin/bash\nset -e\nn=$(head -1 count.txt)\n@@if [ \"$n\" -gt 3 ]; then echo many; fi\nexit 2\n", "logic", "integer expression expected", files={"count.txt": "12 files\n"})
sh("readonly", "#!/bin/bash\nset -e\nreadonly BASE=/srv\nf() {\n@@  BASE=/tmp\n}\nf\n", "logic", "readonly variable")
sh("ambiguous", "#!/bin/bash\nset -e\nout=\n@@echo text > $out\n", "logic", "ambiguous redirect")
sh("redirect-dir", "#!/bin/bash\nset -e\nmkdir -p log\nf() { :; }\n@@date > log/2025/run.txt\n", "logic", "log/2025/run.txt")
sh("redirect-is-dir", "#!/bin/bash\nset -e\nmkdir -p out\n@@echo x > out\n", "logic", "Is a directory")
sh("param-message", "#!/bin/bash\nset -e\n: \"${HOME:?}\"\n@@: \"${BACKUP_TARGET:?set BACKUP_TARGET to the folder of backups}\"\n", "logic", "BACKUP_TARGET")
sh("too-many-arguments", "#!/bin/bash\nset -e\nname=$(ls *.txt)\n@@if [ -f $name ]; then echo one; else exit 3; fi\nexit 2\n", "logic", "too many arguments", files={"a.txt": "", "b.txt": "", "c.txt": ""})
sh("substitution", "#!/bin/bash\nset -e\necho a\n@@version=$(nosuchversion --short)\necho \"$version\"\n", "environment", "nosuchversion")
sh("substitution-syntax", "#!/bin/bash\nset -e\necho a\n@@n=$(echo a | | wc -l)\necho $n\n", "logic", "syntax error")
sh("subshell", "#!/bin/bash\nset -e\necho a\n(\n  echo b\n@@  cd deploy/current\n  ls\n)\n", "logic", "deploy/current")
sh("continued", "#!/bin/bash\nset -e\necho a\n@@rsync -a \\\n  --delete \\\n  incoming/ \\\n  archive/\n", "logic", "change_dir", tool="rsync")
sh("source-missing", "#!/bin/bash\nset -e\ncd .\n@@source ./env/production.sh\necho \"$X\"\n", "logic", "env/production.sh")
sh("case-in-loop", "#!/bin/bash\nset -euo pipefail\nfor f in a b; do\n  case $f in\n    a) echo first ;;\n@@    b) install -m 644 \"$f.conf\" out/ ;;\n  esac\ndone\n", "logic", "b.conf", tool="install")
sh("xargs", "#!/bin/bash\nset -eo pipefail\nls *.txt > list\n@@xargs -n1 checksumtool < list\n", "environment", "checksumtool", files={"a.txt": ""}, tool="xargs")
sh("find-exec", "#!/bin/bash\nset -e\n@@find data -name '*.log' -exec gzip {} +\n", "logic", "data", tool="find")
sh("array-bash-in-sh", "#!/bin/sh\nset -e\nlist=\"a b\"\n@@hosts=(web1 web2)\necho ok\n", "environment", "unexpected", run="sh", tool="dash")
sh("dash-function", "#!/bin/sh\nset -eu\nload() {\n  table=$1\n@@  importcsv \"$table\"\n}\nload prices\n", "environment", "importcsv", run="sh", tool="dash")
sh("dash-unset-in-function", "#!/bin/sh\nset -u\nsend() {\n  subject=$1\n@@  echo \"$subject to $RECIPIENT\"\n}\nsend daily\n", "logic", "RECIPIENT", run="sh", tool="dash")
sh("dash-source", "#!/bin/sh\nset -e\n@@. ./settings.env\necho $A\n", "logic", "settings.env", run="sh", tool="dash")
sh("dash-double-bracket", "#!/bin/sh\nset -e\nmode=full\n@@if [[ $mode == full ]]; then echo full; fi\nexit 3\n", "environment", "[[", run="sh", tool="dash")
sh("dash-arith", "#!/bin/sh\nset -e\nn=3x\n@@echo $((n + 1))\n", "logic", "Illegal number", run="sh", tool="dash")
sh("zsh-function", "#!/bin/zsh\nset -e\nload() {\n  local t=$1\n@@  importcsv $t\n}\nload prices\n", "environment", "importcsv", run="zsh")
sh("zsh-glob", "#!/bin/zsh\nset -e\necho a\n@@ls incoming-*.csv\n", "logic", "no matches found", run="zsh")
sh("ksh-function", "#!/bin/ksh\nset -e\nfunction load {\n  typeset t=$1\n@@  importcsv $t\n}\nload prices\n", "environment", "importcsv", run="ksh")
sh("mapfile-missing", "#!/bin/bash\nset -e\n@@mapfile -t hosts < hosts.list\necho \"${#hosts[@]}\"\n", "logic", "hosts.list")
sh("while-read-missing", "#!/bin/bash\nset -e\nwhile read -r line; do\n  echo \"$line\"\n@@done < servers.txt\n", "logic", "servers.txt")
sh("local-outside", "#!/bin/bash\nset -e\n@@local n=1\necho $n\n", "logic", "can only be used in a function")
sh("unclosed-quote", "#!/bin/bash\nset -e\nf() {\n@@  echo \"begin\n}\nf\necho 'x'\n", "logic", "unexpected EOF")
sh("unclosed-if", "#!/bin/bash\nset -e\n@@if [ -d out ]; then\n  echo a\necho b\n", "logic", "unexpected end of file", at="job.sh:6")
sh("heredoc-unclosed", "#!/bin/bash\nset -e\n@@cat > out/x.txt <<EOF\nline\n  EOF\necho b\nexit 3\n", "logic", "out/x.txt")
sh("trap-err-function", "#!/bin/bash\nset -eE\nfail() { echo \"failed in ${FUNCNAME[1]} line $1\" >&2; }\ntrap 'fail $LINENO' ERR\ncopy() {\n  mkdir -p out\n@@  cp ledger.db out/\n}\ncopy\n", "logic", "ledger.db", tool="cp")
sh("set-x-function", "#!/bin/bash\nset -exu\nn=2\npack() {\n@@  tar -czf out-$n.tgz data-$n\n}\npack\n", "logic", "data-2", tool="tar")
sh("own-die", "#!/bin/bash\ndie() { echo \"$0: $*\" >&2; exit 9; }\nrows=$(wc -l < in.csv)\n@@[ \"$rows\" -ge 10 ] || die \"only $rows rows in in.csv, expected 10\"\n", None, "only 1 rows in in.csv", files={"in.csv": "a\n"})
sh("timeout-silent", "#!/bin/bash\nset -e\necho waiting\n@@timeout 0.3 sleep 5\necho end\n", "transient", None, tool="timeout")
sh("nested-scripts", "#!/bin/bash\nset -e\n./stage1.sh\n", "environment", "transformrows", at="stage2.sh",
   files={"stage1.sh": "#!/bin/bash\nset -e\necho one\n./stage2.sh prices\n", "stage2.sh": "#!/bin/bash\nset -e\nt=$1\n@@transformrows \"$t\"\n"})
sh("permission-child", "#!/bin/bash\nset -e\necho a\n@@./steps/second\n", "environment", "Permission denied", files={"steps/second": "echo b\n"})
sh("calls-python", "#!/bin/bash\nset -e\nmkdir -p out\npython3 tools/convert.py in.csv out/x.json\n", "logic", "ValueError", at="tools/convert.py", files={"in.csv": "n\nx\n", "tools/convert.py": "import sys\n\ndef convert(path):\n    rows = open(path).read().split()[1:]\n@@    return [int(row) for row in rows]\n\nprint(convert(sys.argv[1]))\n"}, tool="python3")
sh("many-lines-before", "#!/bin/bash\nset -e\nfor i in $(seq 300); do echo \"row $i imported\"; done\nwarn() { echo \"warning: skipped row $1\" >&2; }\nwarn 3\nwarn 4\n@@gpg --batch --decrypt secrets.gpg > s\n", "logic", "secrets.gpg", tool="gpg")
sh("export-bad", "#!/bin/bash\nset -e\n@@export MY-VAR=1\n", "logic", "not a valid identifier")
sh("let-syntax", "#!/bin/bash\nset -e\nn=\n@@(( total = n + * 2 ))\n", "logic", "syntax error: operand expected")
sh("exec-format", "#!/bin/bash\nset -e\necho a\n@@./bin/tool --version\n", "environment", "Exec format error", files={"bin/tool": b"\x7fELFnot\x00\x00really"})
sh("function-return", "#!/bin/bash\nset -e\ncheck() {\n  [ -s \"$1\" ] && return 0\n@@  echo \"check: $1 is empty or missing\" >&2\n  return 4\n}\ncheck rates.csv\n", None, "rates.csv is empty or missing")
sh("unbound-array", "#!/bin/bash\nset -eu\ndeclare -A port=([web]=80)\nfor s in web db; do\n@@  echo \"$s ${port[$s]}\"\ndone\n", "logic", "unbound variable")
sh("positional", "#!/bin/bash\nset -eu\nmode=full\n@@target=$1\necho $target\n", "logic", "$1: unbound variable")

# Python.
def py(name, text, cls, core, at="job.py", line="python3 job.py", files=None, **more):
    case("python", f"fresh-{name}", line, {"job.py": text, **(files or {})}, cls, at, core, tool="python3", **more)


py("package-import", "from shop.orders import total\nprint(total())\n", "environment", "No module named 'shop.currency'", at="shop/orders.py",
   files={"shop/__init__.py": "", "shop/orders.py": "import json\n@@from shop.currency import rate\n\ndef total():\n    return rate()\n"})
py("circular", "import a\n", "logic", "circular import", at="b.py", files={"a.py": "from b import g\n\ndef f(): pass\n", "b.py": "@@from a import f\n\ndef g(): pass\n"})
py("relative", "@@from .util import x\n", "logic", "attempted relative import")
py("import-name", "@@from shop.core import Basket\n", "dependency", "cannot import name 'Basket'", files={"shop/__init__.py": "", "shop/core.py": "class Cart: pass\n"})
py("module-run", "", "dependency", "KeyError: 'rate'", at="pkg/job.py", line="python3 -m pkg.job", files={"pkg/__init__.py": "", "pkg/job.py": "cfg = {}\n\ndef main():\n@@    return cfg['rate']\n\nmain()\n"})
py("module-none", "", "environment", "No module named pkg.jobs", at=None, line="python3 -m pkg.jobs", files={"pkg/__init__.py": ""})
py("chain-from", "class LoadError(Exception):\n    pass\n\ndef load():\n    try:\n        return open('conf.ini').read()\n    except OSError as error:\n@@        raise LoadError('settings cannot be read') from error\n\nload()\n", "logic", "settings cannot be read")
py("chain-during", "d = {}\ntry:\n    d['x']\nexcept KeyError:\n@@    int('none')\n", "logic", "ValueError")
py("group", "def work(n):\n    raise ValueError(f'row {n}')\n\nerrors = []\nfor n in (1, 2):\n    try:\n        work(n)\n    except ValueError as e:\n        errors.append(e)\n@@raise ExceptionGroup('import failed', errors)\n", "logic", "import failed (2 sub-exceptions)")
py("note", "def f(row):\n@@    return row[3]\n\ntry:\n    f([1])\nexcept IndexError as e:\n    e.add_note('while reading row 7 of in.csv')\n    raise\n", "logic", "IndexError")
py("task-group", "import asyncio\n\nasync def fetch(n):\n    await asyncio.sleep(0)\n    if n == 2:\n@@        raise TimeoutError('mirror 2 gave no answer')\n\nasync def main():\n    async with asyncio.TaskGroup() as tg:\n        for n in range(3):\n            tg.create_task(fetch(n))\n\nasyncio.run(main())\n", "transient", "mirror 2 gave no answer")
py("syntax-imported", "import helper\n", "logic", "SyntaxError", at="helper.py", files={"helper.py": "def f():\n    x = 1\n@@    if x = 2:\n        return x\n"})
py("indent", "def f():\n    a = 1\n@@      b = 2\n    return a\n", "logic", "IndentationError")
py("tabs", "def f():\n    if True:\n        a = 1\n@@\tb = 2\nf()\n", "logic", "inconsistent use of tabs")
py("unclosed", "x = 1\n@@rows = [1, 2,\nprint(x)\nfor r in rows:\n    print(r)\n", "logic", "was never closed")
py("print2", "import sys\n@@print \"done\"\n", "logic", "Missing parentheses")
py("called-process", "import subprocess\n\ndef compress():\n@@    subprocess.run(['gzip', 'dump.sql'], check=True)\n\ncompress()\n", "logic", "dump.sql")
py("called-output", "import subprocess\n@@out = subprocess.check_output(['sh', '-c', 'exit 3'])\n", None, "returned non-zero exit status 3")
py("subprocess-none", "import subprocess\n@@subprocess.run(['pdfjoiner', 'a.pdf'], check=True)\n", "environment", "pdfjoiner")
py("sys-exit", "import sys\nrows = []\nif not rows:\n@@    sys.exit('no rows to send, stopping')\n", None, "no rows to send")
py("argparse", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--day', required=True)\n@@p.parse_args()\n", "logic", "the following arguments are required: --day", at=None)
py("argparse-unknown", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--day')\n@@p.parse_args()\n", "dependency", "unrecognized arguments: --date", at=None, line="python3 job.py --date 2025-01-01")
py("sqlite", "import sqlite3\ndb = sqlite3.connect('x.db')\ndb.execute('create table t (a)')\n\ndef load():\n@@    return db.execute('select b from t').fetchall()\n\nload()\n", "dependency", "no such column: b")
py("pool", "from multiprocessing import Pool\n\ndef work(n):\n@@    return 10 / n\n\nif __name__ == '__main__':\n    with Pool(2) as pool:\n        print(pool.map(work, [1, 0]))\n", "logic", "ZeroDivisionError")
py("future", "from concurrent.futures import ThreadPoolExecutor\n\ndef work(n):\n@@    return {}[n]\n\nwith ThreadPoolExecutor() as pool:\n    print(list(pool.map(work, ['eur'])))\n", "dependency", "KeyError: 'eur'")
py("thread", "import threading, sys\nfailed = []\n\ndef work():\n    try:\n        open('part-1.csv')\n    except OSError:\n        failed.append(1)\n@@        raise\n\nt = threading.Thread(target=work)\nt.start(); t.join()\nsys.exit(1 if failed else 0)\n", "logic", "part-1.csv", at="job.py:6")
py("recursion", "def walk(node):\n@@    return walk(node)\n\nwalk(1)\n", "logic", "maximum recursion depth exceeded")
py("environ", "import os\n\ndef settings():\n@@    return os.environ['REPORT_BUCKET']\n\nsettings()\n", "environment", "REPORT_BUCKET")
py("configparser", "import configparser\nc = configparser.ConfigParser()\nc.read('job.ini')\n@@print(c['mail']['host'])\n", "dependency", "KeyError: 'mail'", files={"job.ini": "[smtp]\nhost = a\n"})
py("toml", "import tomllib\n@@tomllib.load(open('job.toml', 'rb'))\n", "logic", "TOMLDecodeError", files={"job.toml": "a = 1\nb = \n"})
py("strptime", "from datetime import datetime\n\ndef parse(day):\n@@    return datetime.strptime(day, '%d.%m.%Y')\n\nparse('2025-01-31')\n", "logic", "does not match format")
py("decode", "data = b'caf\\xe9'\n@@print(data.decode('utf-8'))\n", "environment", "UnicodeDecodeError")
py("unittest", "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_total(self):\n@@        self.assertEqual(sum([1, 2]), 4)\n\nunittest.main()\n", "logic", "AssertionError: 3 != 4")
py("refused", "import urllib.request\n\ndef get():\n@@    return urllib.request.urlopen('http://127.0.0.1:9/rates').read()\n\nget()\n", "transient", "Connection refused")
py("resolve", "import socket\n@@socket.create_connection(('db.nosuchzone.invalid', 5432))\n", "transient", "gaierror")
py("logged", "import logging, sys\nlogging.basicConfig(level='INFO')\nlog = logging.getLogger('import')\nlog.info('begin')\ntry:\n@@    open('prices.csv')\nexcept OSError:\n    log.exception('import stopped')\n    sys.exit(2)\n", "logic", "prices.csv")
py("stdin-code", "", "logic", "ZeroDivisionError", at=None, line="echo 'print(1 / 0)' | python3 -")
py("dash-c", "", "logic", "NameError", at=None, line="python3 -c 'import json; print(jsn.dumps(1))'")
py("unpack", "for line in open('in.txt'):\n@@    name, price = line.split(';')\n    print(name)\n", "logic", "not enough values to unpack", files={"in.txt": "a;1\nb\n"})
py("not-subscript", "import re\n\ndef version(text):\n    m = re.match(r'v(\\d+)', text)\n@@    return m.group(1)\n\nversion('release 3')\n", "logic", "'NoneType' object has no attribute 'group'")
py("disk", "import os\n@@os.write(os.open('/dev/full', os.O_WRONLY), b'x')\n", "resource", "No space left on device")

# node.
def js(name, files, cls, core, at, line="node job.mjs", **more):
    case("node", f"fresh-{name}", line, files, cls, at, core, tool="node", **more)


js("esm-package", {"job.mjs": "import fs from 'node:fs';\n@@import dayjs from 'dayjs';\nconsole.log(dayjs());\n"}, "environment", "Cannot find package 'dayjs'", None)
js("esm-file", {"job.mjs": "@@import { a } from './lib/rates.mjs';\nconsole.log(a);\n"}, "environment", "Cannot find module", "job.mjs")
js("esm-export", {"job.mjs": "// rates\n@@import { loadAll } from './lib.mjs';\nloadAll();\n", "lib.mjs": "export const load = 1;\n"}, "dependency", "does not provide an export named 'loadAll'", "job.mjs")
js("esm-require", {"job.mjs": "const a = 1;\n@@const fs = require('fs');\n"}, "dependency", "require is not defined in ES module scope", "job.mjs")
js("esm-syntax", {"job.mjs": "import './lib.mjs';\n", "lib.mjs": "export function f() {\n  const a = 1;\n@@  if (a === 1 {\n    return 2;\n  }\n}\n"}, "logic", "SyntaxError", "lib.mjs")
js("top-await", {"job.mjs": "import { readFile } from 'node:fs/promises';\nconst text = 'x';\n@@const rates = JSON.parse(await readFile('rates.json', 'utf8'));\n"}, "logic", "ENOENT", "job.mjs")
js("json", {"job.js": "const fs = require('fs');\nfunction load() {\n@@  return JSON.parse(fs.readFileSync('a.json', 'utf8'));\n}\nload();\n", "a.json": "{\"a\": 1,}\n"}, "logic", "SyntaxError", "job.js", line="node job.js")
js("cause", {"job.js": "function inner() { throw new Error('disk quota of the share is used up'); }\nfunction run() {\n  try { inner(); } catch (cause) {\n@@    throw new Error('export failed', { cause });\n  }\n}\nrun();\n"}, "logic", "export failed", "job.js", line="node job.js")
js("emitter", {"job.js": "const fs = require('fs');\n@@fs.createReadStream('in/big.csv').pipe(process.stdout);\n"}, "logic", "ENOENT", "job.js", line="node job.js")
js("connect", {"job.js": "const net = require('net');\n@@net.connect(9, '127.0.0.1');\n"}, "transient", "ECONNREFUSED", "job.js", line="node job.js")
js("exec-sync", {"job.js": "const { execSync } = require('child_process');\nfunction pack() {\n@@  execSync('tar -czf out.tgz missing-folder');\n}\npack();\n"}, "logic", "missing-folder", "job.js", line="node job.js")
js("assert", {"job.js": "const assert = require('assert');\nconst rows = [];\n@@assert.ok(rows.length > 0, 'no rows were read');\n"}, "logic", "no rows were read", "job.js", line="node job.js")
js("reject-string", {"job.js": "async function go() {\n@@  throw 'token has expired';\n}\ngo();\n"}, None, "token has expired", "job.js", line="node job.js")
js("undefined-deep", {"job.js": "const { price } = require('./lib/price');\nprice({});\n", "lib/price.js": "exports.price = (row) => {\n@@  return row.meta.price;\n};\n"}, "logic", "Cannot read properties of undefined (reading 'price')", "lib/price.js", line="node job.js")
js("missing-script", {}, "environment", "Cannot find module", None, line="node tools/job.js")
js("import-cjs", {"job.js": "import fs from 'fs';\nconsole.log(fs);\n", "package.json": "{\"name\": \"x\", \"type\": \"commonjs\"}\n"}, "dependency", "Cannot use import statement outside a module", "job.js:1", line="node job.js")

# perl, ruby, php, go, java, lua.
def pl(name, files, cls, core, at="job.pl", line="perl job.pl"):
    case("perl", f"fresh-{name}", line, files, cls, at, core, tool="perl")


pl("module-die", {"job.pl": "use strict; use lib 'lib';\nuse Shop;\nShop::load('x');\n", "lib/Shop.pm": "package Shop;\nuse strict;\nsub load {\n  my $n = shift;\n@@  die \"no table $n\";\n}\n1;\n"}, None, "no table x", at="lib/Shop.pm")
pl("confess", {"job.pl": "use strict; use Carp;\nsub check {\n  my $v = shift;\n@@  confess \"bad amount $v\" if $v < 0;\n}\nsub run { check(-3) }\nrun();\n"}, None, "bad amount -3")
pl("strict", {"job.pl": "use strict;\nmy $total = 1;\n@@$totl += 2;\nprint $total;\n"}, "logic", "Global symbol \"$totl\"")
pl("module-syntax", {"job.pl": "use lib 'lib';\nuse Rates;\n", "lib/Rates.pm": "package Rates;\nsub f {\n@@  my $x = ;\n}\n1;\n"}, "logic", "syntax error", at="lib/Rates.pm")
pl("undefined-sub", {"job.pl": "use strict;\nsub load_rates { 1 }\n@@load_rate();\n"}, "logic", "Undefined subroutine &main::load_rate")
pl("undef-array", {"job.pl": "use strict;\nmy $r;\nfor my $i (1) {\n@@  my @a = @{$r->{rows}};\n  print @$i;\n}\n"}, "logic", "Can't use")
pl("locate", {"job.pl": "use strict;\n@@use Text::NoSuchCSV;\n"}, "environment", "Can't locate Text/NoSuchCSV.pm")
one("ruby", "fresh-require", "ruby job.rb", "environment", "cannot load such file -- nosuchgem", files={"job.rb": "x = 1\n@@require 'nosuchgem'\n"}, at="job.rb")
one("ruby", "fresh-nested", "ruby job.rb", "logic", "undefined method", files={"job.rb": "require_relative 'lib/a'\nload_all\n", "lib/a.rb": "def load_all\n  row = nil\n@@  row.fetch(:a)\nend\n"}, at="lib/a.rb")
one("ruby", "fresh-key", "ruby job.rb", "dependency", "key not found", files={"job.rb": "cfg = { 'host' => 1 }\n@@cfg.fetch('port')\n"}, at="job.rb")
one("ruby", "fresh-json", "ruby job.rb", "logic", "ParserError", files={"job.rb": "require 'json'\n@@JSON.parse(File.read('a.json'))\n", "a.json": "{\"a\": \n"}, at="job.rb")
one("php", "fresh-include", "php job.php", "logic", "lib/db.php", files={"job.php": "<?php\n$x = 1;\n@@require 'lib/db.php';\n"}, at="job.php")
one("php", "fresh-undefined", "php job.php", "logic", "undefined function", files={"job.php": "<?php\nfunction f() {\n@@  return imagecreatefromwebp2('a');\n}\nf();\n"}, at="job.php")
one("go", "fresh-undefined", "go run job.go", "logic", "undefined: totl", files={"job.go": "package main\n\nimport \"fmt\"\n\nfunc main() {\n\ttotal := 1\n@@\tfmt.Println(totl)\n\t_ = total\n}\n"}, at="job.go")
one("go", "fresh-map", "go run job.go", "logic", "assignment to entry in nil map", files={"job.go": "package main\n\nvar m map[string]int\n\nfunc add() {\n@@\tm[\"a\"] = 1\n}\n\nfunc main() {\n\tadd()\n}\n"}, at="job.go")
one("java", "fresh-cause", "java job.java", "logic", "cannot load", files={"job.java": "public class job {\n  static void load() {\n    try { Integer.parseInt(\"x\"); } catch (NumberFormatException e) {\n@@      throw new RuntimeException(\"cannot load\", e);\n    }\n  }\n  public static void main(String[] a) { load(); }\n}\n"}, at="job.java")
one("lua", "fresh-nil", "lua5.4 job.lua", "logic", "attempt to index a nil value", tool="lua5.4", files={"job.lua": "local cfg = {}\nlocal function f()\n@@  return cfg.mail.host\nend\nf()\n"}, at="job.lua")

# make.
def mk(name, files, cls, core, at, line="make", **more):
    case("make", f"fresh-{name}", line, files, cls, at, core, tool=more.pop("tool", "make"), **more)


mk("recursive-tool", {"Makefile": "all:\n\t$(MAKE) -C sub all\n", "sub/Makefile": "all: out.bin\n\nout.bin:\n@@\tlinkall -o $@ a.o\n"}, "environment", "linkall", "sub/Makefile")
mk("recursive-target", {"Makefile": "all:\n\t$(MAKE) -C sub release\n", "sub/Makefile": "all:\n\techo a\n"}, "dependency", "No rule to make target 'release'", "Makefile:2")
mk("prerequisite", {"Makefile": "all: report.pdf\n\n@@report.pdf: report.md style.css\n\ttouch $@\n", "report.md": ""}, "logic", "style.css", "Makefile")
mk("error", {"Makefile": "VERSION :=\n\n@@$(if $(VERSION),,$(error VERSION must be set))\n\nall:\n\techo $(VERSION)\n"}, None, "VERSION must be set", "Makefile")
mk("include", {"Makefile": "all:\n\techo a\n\n@@include build/rules.mk\n"}, "logic", "build/rules.mk", "Makefile")
mk("spaces", {"Makefile": "all:\n\techo a\n\nclean:\n@@    rm -f out\n"}, "logic", "missing separator", "Makefile")
mk("multi-line", {"Makefile": "all:\n\t@echo start\n@@\t@for f in a b; do \\\n\t  cp $$f.txt out/ || exit 1; \\\n\tdone\n", "a.txt": ""}, "logic", "out/", "Makefile", tool="cp")
mk("python", {"Makefile": "all:\n\tpython3 gen.py\n", "gen.py": "import json\n\n@@json.loads('')\n"}, "logic", "JSONDecodeError", "gen.py", tool="python3")
mk("compile", {"Makefile": "prog: prog.c\n\tgcc -Wall -o prog prog.c\n", "prog.c": "#include <stdio.h>\nint main(void) {\n@@  printf(\"%d\\n\", count);\n  return 0;\n}\n"}, "logic", "undeclared", "prog.c", tool="gcc")
mk("file-option", {"build.mk": "all:\n@@\tpandocx -o a.pdf a.md\n"}, "environment", "pandocx", "build.mk", line="make -f build.mk")
mk("by-script", {"job.sh": "#!/bin/bash\nset -e\necho build\nmake -s -C src install\n", "src/Makefile": "install: dirs\n@@\tinstall -m 755 prog out/bin/\n\ndirs:\n\tmkdir -p out\n"}, "logic", "prog", "src/Makefile", line="bash job.sh", tool="install")

# awk, sed, jq, tar, gzip, rsync, curl, git, sqlite, in scripts of their own and by command line.
one("awk", "fresh-file", "gawk -f job.awk in.txt", "logic", "division by zero", files={"job.awk": "BEGIN { n = 0 }\n{ s += $1 }\nEND {\n@@  print s / n\n}\n", "in.txt": "1\n"}, at="job.awk")
one("awk", "fresh-mawk-file", "mawk -f job.awk in.txt", "logic", "extra ')'", files={"job.awk": "BEGIN { n = 0 }\n{ s += $1 }\nEND {\n@@  print s / n)\n}\n", "in.txt": "1\n"}, at="job.awk", tool="mawk")
one("awk", "fresh-undefined", "gawk -f job.awk in.txt", "logic", "function `total' not defined", files={"job.awk": "{ s += $1 }\n@@END { print total(s) }\n", "in.txt": "1\n"}, at="job.awk")
one("awk", "fresh-input", "awk '{ print $1 }' gone.txt", "logic", "gone.txt", tool="mawk")
one("sed", "fresh-file", "sed -f job.sed in.txt", "logic", "unknown command", files={"job.sed": "s/a/b/\n@@Z/x\n", "in.txt": "a\n"}, at="job.sed")
one("sed", "fresh-inplace", "sed -i 's/a/b/' conf/app.conf", "logic", "conf/app.conf")
one("jq", "fresh-file", "jq -f job.jq a.json", "logic", "syntax error", files={"job.jq": ".items\n@@| map(.a +)\n", "a.json": "{}\n"}, at=None)
one("jq", "fresh-undefined", "jq '.a | totl' a.json", "logic", "totl/0 is not defined", files={"a.json": "{}\n"})
one("jq", "fresh-parse", "jq . a.json", "logic", "parse error", files={"a.json": "{\"a\": 1,\n \"b\": }\n"})
one("archives", "fresh-gz", "tar -xzf a.tgz", "logic", "not in gzip format", tool="tar", files={"a.tgz": "<html>not found</html>\n"})
one("archives", "fresh-member", "tar -xf a.tar etc/app.conf", "dependency", "etc/app.conf: Not found in archive", tool="tar", setup="touch x; tar -cf a.tar x")
one("archives", "fresh-truncated", "gzip -t a.gz", "logic", "unexpected end of file", tool="gzip", setup="seq 1 9999 | gzip > b.gz; head -c 2000 b.gz > a.gz")
one("archives", "fresh-unzip", "unzip -o a.zip", "logic", "cannot find or open a.zip", tool="unzip")
one("archives", "fresh-xz", "xz -d a.xz", "logic", "File format not recognized", tool="xz", files={"a.xz": "plain\n"})
one("archives", "fresh-directory", "tar -czf backup/a.tgz data", "logic", "backup/a.tgz", tool="tar", files={"data/x": ""})
one("rsync", "fresh-source", "rsync -av --delete staging/ live/", "logic", "staging", files={"live/a": ""})
one("rsync", "fresh-refused", "rsync -a rsync://127.0.0.1:9/mod/ out/", "transient", "Connection refused")
one("rsync", "fresh-option", "rsync -a --delete-everything a/ b/", "dependency", "--delete-everything")
one("rsync", "fresh-resolve", "rsync -a a.txt backup@nosuchhost.invalid:/srv/", "transient", "nosuchhost.invalid", files={"a.txt": ""})
one("curl", "fresh-refused", "curl -fsS http://127.0.0.1:9/rates.json", "transient", "127.0.0.1 port 9")
one("curl", "fresh-scheme", "curl -fsS htp://example.invalid/x", "logic", "htp")
one("curl", "fresh-resolve", "curl -fsS https://api.nosuchzone.invalid/v1", "transient", "api.nosuchzone.invalid")
one("curl", "fresh-upload", "curl -fsS -T out.csv http://127.0.0.1:9/", "logic", "out.csv")
G = "git init -q -b main . && git config user.email a@b.c && git config user.name a && git commit -q --allow-empty -m a"
one("git", "fresh-lock", "git add -A", "transient", "index.lock", setup=G + " && touch .git/index.lock x")
one("git", "fresh-checkout", "git checkout release-2", "dependency", "release-2", setup=G)
one("git", "fresh-conflict", "git merge other", "logic", "CONFLICT", setup=G + " && echo 1 > f && git add f && git commit -q -m f && git checkout -q -b other HEAD~1 && echo 2 > f && git add f && git commit -q -m g && git checkout -q main")
one("git", "fresh-overwritten", "git checkout other", "logic", "would be overwritten", setup=G + " && git checkout -q -b other && echo 2 > f && git add f && git commit -q -m g && git checkout -q main && echo x > f")
one("git", "fresh-remote", "git push origin main", "dependency", "'origin' does not appear to be a git repository", setup=G)
one("sql", "fresh-constraint", "sqlite3 a.db < load.sql", "logic", "UNIQUE constraint failed", tool="sqlite3", files={"load.sql": "create table t (a unique);\ninsert into t values (1);\n@@insert into t values (1);\n"}, at="load.sql")
one("sql", "fresh-syntax", "sqlite3 a.db '.read load.sql'", "logic", "syntax error", tool="sqlite3", files={"load.sql": "create table t (a);\n@@insert in t values (1);\n"}, at=None)
one("sql", "fresh-readonly", "sqlite3 -bail -readonly a.db 'insert into t values (1);'", "environment", "readonly database", tool="sqlite3", setup="sqlite3 a.db 'create table t (a);'")
one("sql", "fresh-psql", "psql -h 127.0.0.1 -p 9 -U app -c 'select 1' shop", "transient", "Connection refused", tool="psql")

# Services and settings.
one("data", "fresh-visudo", "visudo -cf sudoers", "logic", "syntax error", tool="visudo", files={"sudoers": "root ALL=(ALL) ALL\n@@backup ALL=(ALL NOPASSWD: /bin/true\n"}, at="sudoers")
one("data", "fresh-yaml", "python3 -c \"import yaml; yaml.safe_load(open('a.yml'))\"", "logic", "mapping values are not allowed", tool="python3", files={"a.yml": "a: 1\n@@b: c: d\n"}, at="a.yml")
one("data", "fresh-bash-n", "bash -n job.sh", "logic", "syntax error", tool="bash", files={"job.sh": "for f in *; do\n  echo $f\n@@fi\n"}, at="job.sh")
one("data", "fresh-json-tool", "python3 -m json.tool a.json", "logic", "Expecting", tool="python3", files={"a.json": "{\"a\": 1,\n@@ \"b\" 2}\n"}, at=None)

# Over ssh, to a server on this machine.
SSH = "OpenSSH 9.2p1, run here over the loopback"


def far(name, text, output, cls, core, code, at="job.sh", files=None, **more):
    case("remote", f"fresh-{name}", "bash job.sh", {"job.sh": text, **(files or {})}, cls, at, core, tool="ssh", setup=output, documented=SSH, exit_code=code, **more)


far("script-by-stdin", "#!/bin/bash\nset -e\nssh web1 bash -s < remote.sh\n", "bash: line 3: rotateall: command not found\n", "environment", "rotateall", 127,
    at="remote.sh", files={"remote.sh": "set -e\ncd /tmp\n@@rotateall now\n"}, remote="web1")
far("heredoc", "#!/bin/bash\nset -e\necho start\nssh web1 bash <<'EOF'\nset -e\n@@rotateall now\nEOF\n", "start\nbash: line 2: rotateall: command not found\n", "environment", "rotateall", 127, remote="web1")
far("quoted-lines", "#!/bin/bash\nset -e\nssh web1 '\n  set -e\n  cd /tmp\n@@  rotateall now\n'\n", "bash: line 4: rotateall: command not found\n", "environment", "rotateall", 127, remote="web1")
far("python", "#!/bin/bash\nset -e\nssh web1 python3 - <<'PY'\nimport json\n@@json.loads('{')\nPY\n",
    "Traceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\n  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n    return _default_decoder.decode(s)\n           ^^^^^^^^^^^^^^^^^^^^^^^^^^\njson.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)\n", "logic", "JSONDecodeError", 1, remote="web1")
far("missing-there", "#!/bin/bash\nset -e\n@@ssh web1 'cat /srv/none/x.conf'\n", "cat: /srv/none/x.conf: No such file or directory\n", "logic", "/srv/none/x.conf", 1, remote="web1")
far("host-key", "#!/bin/bash\nset -e\n@@ssh -o StrictHostKeyChecking=yes web1 true\n", "No ED25519 host key is known for web1 and you have requested strict checking.\nHost key verification failed.\n", "environment", "ost key", 255)
far("no-key", "#!/bin/bash\nset -e\n@@ssh -o BatchMode=yes nobody@web1 true\n", "nobody@127.0.0.1: Permission denied (publickey,password,keyboard-interactive).\n", "environment", "Permission denied (publickey", 255)
far("subsystem", "#!/bin/bash\nset -e\n@@scp out.csv web1:/tmp/\n", "subsystem request failed on channel 0\nscp: Connection closed\n", None, "subsystem request failed", 255)
