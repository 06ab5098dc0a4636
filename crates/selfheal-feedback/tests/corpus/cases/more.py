"""A second round: other faults of the same families, written after the first parsers had been measured."""


def one(family, name, line, cls, core, tool=None, files=None, at=None, **more):
    case(family, name, line, files or {}, cls, at, core, tool=tool or line.split()[0], **more)


def sh(family, name, line, cls, core, tool, files=None, at="job.sh", **more):
    case(family, name, "bash job.sh", {"job.sh": f"#!/bin/bash\n# weekly\nset -euo pipefail\nn=1\n@@{line}\necho end\n", **(files or {})}, cls, at, core, tool=tool, **more)


J = "import java.util.*;\npublic class job {\n"
for name, body, cls, core in [
        ("cast", "    Object o = \"x\";\n@@    Integer i = (Integer) o;\n", "logic", "ClassCastException"),
        ("no-element", "    List<String> l = new ArrayList<>();\n@@    l.iterator().next();\n", "logic", "NoSuchElementException"),
        ("list-index", "    List<String> l = new ArrayList<>();\n@@    l.get(3);\n", "logic", "IndexOutOfBounds"),
        ("arithmetic", "    int n = 0;\n@@    System.out.println(4 / n);\n", "logic", "/ by zero"),
        ("argument", "@@    throw new IllegalArgumentException(\"rate must be positive\");\n", "logic", "rate must be positive"),
        ("map-null", "    Map<String,Integer> m = new HashMap<>();\n@@    int x = m.get(\"total\");\n", "logic", "NullPointerException"),
        ("date", "@@    java.time.LocalDate.parse(\"31.12.2025\");\n", "logic", "could not be parsed"),
        ("stack", "@@    main(a);\n", "logic", "StackOverflowError"),
        ("host", "@@    new java.net.Socket(\"nosuchhost.invalid\", 80);\n", "transient", "UnknownHostException"),
        ("missing-path", "@@    java.nio.file.Files.readString(java.nio.file.Path.of(\"in/a.txt\"));\n", "logic", "in/a.txt"),
        ("state", "@@    throw new IllegalStateException(\"queue is closed\");\n", "logic", "queue is closed")]:
    one("java", name, "java job.java", cls, core, files={"job.java": J + "  public static void main(String[] a) throws Exception {\n" + body + "  }\n}\n"}, at="job.java")

P = "<?php\n"
for name, body, cls, core in [
        ("array-key", "$r = ['a' => 1];\nfunction f($r) { return $r; }\n@@throw new OutOfRangeException(\"no key total\");\n", None, "no key total"),
        ("file-get", "@@$t = file_get_contents('in/rates.json');\nif ($t === false) exit(1);\n", "logic", "in/rates.json"),
        ("arguments", "function f($a, $b) { return 1; }\n@@f(1);\n", "logic", "Too few arguments"),
        ("method", "class A {}\n$a = new A();\n@@$a->load();\n", "dependency", "undefined method"),
        ("json", "@@json_decode('{', false, 512, JSON_THROW_ON_ERROR);\n", "logic", "Syntax error"),
        ("type-count", "$x = null;\n@@echo count($x);\n", "logic", "must be of type Countable"),
        ("interface", "@@class B implements Missing {}\n", "environment", "Missing"),
        ("unexpected-end", "function f() {\n  return 1;\n", "logic", "Unclosed")]:
    one("php", name, "php job.php", cls, core, files={"job.php": P + body}, at="job.php" if "@@" in body else "job.php:4")

for name, body, cls, core in [
        ("argument-count", "def f(a, b); a; end\n@@f(1)\n", "logic", "wrong number of arguments"),
        ("frozen", "A = 'x'.freeze\n@@A << 'y'\n", "logic", "can't modify frozen"),
        ("date", "require 'date'\n@@Date.parse('not a day')\n", "logic", "invalid date"),
        ("exit-abort", "@@abort('sync: two runs overlap')\n", None, "two runs overlap"),
        ("dir", "@@Dir.mkdir('a/b/c')\n", "logic", "No such file or directory"),
        ("permission", "@@File.read('/etc/shadow')\n", "environment", "Permission denied"),
        ("undefined-constant", "@@NoSuchThing.new\n", "logic", "uninitialized constant"),
        ("resolve", "require 'socket'\n@@TCPSocket.new('nosuchhost.invalid', 80)\n", "transient", "getaddrinfo")]:
    one("ruby", name, "ruby job.rb", cls, core, files={"job.rb": body}, at="job.rb", user=name == "permission")

for name, body, cls, core in [
        ("array", "use strict; use warnings;\nmy @a = (1);\n@@die \"row has \" . scalar(@a) . \" fields\" if @a < 3;\n", None, "row has 1 fields"),
        ("not-code", "use strict;\nmy $h = {};\n@@$h->();\n", "logic", "Not a CODE reference"),
        ("close", "use strict;\n@@open(my $f, '>', 'out/x/y.txt') or die \"out/x/y.txt: $!\\n\";\n", "logic", "out/x/y.txt"),
        ("bareword", "use strict;\n@@my $x = total;\nprint $x;\n", "logic", "Bareword \"total\" not allowed"),
        ("import", "use strict;\n@@use List::Util qw(nosuchsum);\n", "dependency", "nosuchsum"),
        ("socket", "use IO::Socket::INET;\n@@IO::Socket::INET->new(PeerAddr => '127.0.0.1:9') or die \"connect: $@\";\n", "transient", "Connection refused"),
        ("version", "@@use 9.0;\n", "environment", "Perl v9.0.0 required"),
        ("method", "use strict;\npackage A; sub new { bless {}, shift }\npackage main;\n@@A->new->load;\n", "dependency", "Can't locate object method \"load\"")]:
    one("perl", name, "perl job.pl", cls, core, files={"job.pl": body}, at="job.pl")

for name, body, cls, core, at in [
        ("exit-code", "process.on('exit', () => {});\n@@console.error('upload: bucket quota exceeded'); process.exit(4);\n", None, "bucket quota exceeded", "job.js"),
        ("enoent-promise", "const fs = require('fs/promises');\nasync function run() {\n@@  await fs.readFile('in/a.json');\n}\nrun();\n", "logic", "ENOENT", "job.js"),
        ("eacces", "const fs = require('fs');\n@@fs.readFileSync('/etc/shadow');\n", "environment", "EACCES", "job.js"),
        ("invalid-url", "@@new URL('not a url');\n", "logic", "Invalid URL", "job.js"),
        ("range", "@@'a'.repeat(-1);\n", "logic", "Invalid count value", "job.js"),
        ("stack", "@@function f() { return f(); }\nf();\n", "logic", "Maximum call stack", "job.js"),
        ("iterable", "const x = undefined;\n@@const [a] = x;\n", "logic", "not iterable", "job.js"),
        ("const", "const a = 1;\n@@a = 2;\n", "logic", "Assignment to constant variable", "job.js"),
        ("fetch", "@@fetch('http://127.0.0.1:9/').then((r) => r.text());\n", "transient", "fetch failed", "job.js"),
        ("await", "function f() {\n@@  await g();\n}\nf();\n", "logic", "await is only valid", "job.js"),
        ("missing-dep-deep", "@@require('./lib/a');\n", "environment", "Cannot find module 'nosuchdep'", "lib/a.js")]:
    files = {"job.js": body}
    if name == "missing-dep-deep":
        files = {"job.js": "require('./lib/a');\n", "lib/a.js": "const x = 1;\n@@require('nosuchdep');\n"}
    one("node", name, "node job.js", cls, core, files=files, at=at, user=name == "eacces")

for name, body, cls, core in [
        ("dict-none", "cfg = None\n@@print(cfg['host'])\n", "logic", "'NoneType' object is not subscriptable"),
        ("not-callable", "n = 3\n@@n()\n", "logic", "not callable"),
        ("unbound-local", "def f():\n@@    print(x)\n    x = 1\nf()\n", "logic", "UnboundLocalError"),
        ("stop", "it = iter([])\n@@next(it)\n", "logic", "StopIteration"),
        ("encode", "import sys\nopen('o', 'w', encoding='ascii')\n@@open('o', 'w', encoding='ascii').write('\\u00fc')\n", "environment", "UnicodeEncodeError"),
        ("struct", "import struct\n@@struct.unpack('<I', b'ab')\n", "logic", "unpack requires"),
        ("key-int", "rates = {1: 2}\n@@rates[7]\n", "dependency", "KeyError: 7"),
        ("json-string", "import json\n@@json.load(open('a.json'))\n", "logic", "JSONDecodeError"),
        ("shutil", "import shutil\n@@shutil.copy('a.bin', 'out/b.bin')\n", "logic", "a.bin"),
        ("timeout-expired", "import subprocess\n@@subprocess.run(['sleep', '9'], timeout=0.2)\n", "transient", "TimeoutExpired"),
        ("decimal", "from decimal import Decimal\n@@Decimal('1,5')\n", "logic", "InvalidOperation"),
        ("ssl", "import ssl\n@@ssl.create_default_context(cafile='ca.pem')\n", "logic", "No such file or directory"),
        ("http-404", "import urllib.error\n@@raise urllib.error.HTTPError('http://x', 404, 'Not Found', {}, None)\n", "dependency", "HTTP Error 404"),
        ("http-503", "import urllib.error\n@@raise urllib.error.HTTPError('http://x', 503, 'Busy', {}, None)\n", "transient", "HTTP Error 503"),
        ("async", "import asyncio\n\nasync def go():\n@@    raise ConnectionResetError('peer went away')\n\nasyncio.run(go())\n", "transient", "peer went away"),
        ("dataclass", "from dataclasses import dataclass\n\n@dataclass\nclass Row:\n    a: int\n\n@@Row(1, 2)\n", "logic", "positional argument"),
        ("own-error", "class QuotaError(Exception):\n    pass\n\ndef use(n):\n@@    raise QuotaError(f'{n} of 5 used')\n\nuse(9)\n", None, "9 of 5 used"),
        ("f-string", "name = 'x'\n@@print(f'{name')\n", "logic", "SyntaxError"),
        ("await-outside", "import asyncio\n@@await asyncio.sleep(1)\n", "logic", "SyntaxError"),
        ("oserror-full", "@@f = open('/dev/full', 'w', buffering=1); f.write('x\\n')\n", "resource", "No space left"),
        ("socket-bind", "import socket\na = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen()\nb = socket.socket()\n@@b.bind(a.getsockname())\n", "transient", "Address already in use"),
        ("glob-index", "import glob\n@@print(glob.glob('in/*.csv')[0])\n", "logic", "IndexError"),
        ("locale", "import locale\n@@locale.setlocale(locale.LC_ALL, 'xx_YY.UTF-8')\n", "environment", "unsupported locale"),
        ("zip", "import zipfile\n@@zipfile.ZipFile('a.json')\n", "logic", "not a zip file")]:
    one("python", name, "python3 job.py", cls, core, tool="python3", files={"job.py": body, "a.json": "\"x\n"}, at="job.py")

for name, line, cls, core, tool in [
        ("seq", "seq 1 x", "logic", "invalid floating point", "seq"), ("tr", "echo a | tr a", "logic", "missing operand", "tr"),
        ("chmod-mode", "chmod u+q job.sh", "logic", "invalid mode", "chmod"), ("touch", "touch a/b/c", "logic", "a/b/c", "touch"),
        ("stat", "stat gone.txt", "logic", "gone.txt", "stat"), ("readlink", "realpath -e gone.txt", "logic", "gone.txt", "realpath"),
        ("grep-regex", "grep '[a' job.sh", "logic", "nmatched [", "grep"), ("grep-file", "grep -q x gone.txt", "logic", "gone.txt", "grep"),
        ("ln-missing", "ln a/b c/d", "logic", "a/b", "ln"), ("truncate", "truncate -s 1x f", "logic", "nvalid number", "truncate"),
        ("env", "env nosuchtool --x", "environment", "nosuchtool", "env"), ("nice", "nice nosuchtool", "environment", "nosuchtool", "nice"),
        ("sudo", "sudo -n -u nosuchuser id", "dependency", "nosuchuser", "sudo"), ("su", "runuser -u nosuchuser id", "dependency", "nosuchuser", "runuser"),
        ("mount", "umount /srv/nomount", "logic", "/srv/nomount", "umount"), ("column", "paste gone.csv", "logic", "gone.csv", "paste"),
        ("base64", "echo '*' | base64 -d", "logic", "invalid input", "base64"),
        ("expr", "expr 1 + a", "logic", "non-integer argument", "expr"), ("basename", "basename", "logic", "missing operand", "basename"),
        ("patch", "patch -p1 < gone.patch", "logic", "gone.patch", "patch"), ("cmp", "cmp a.bin b.bin", "logic", "a.bin", "cmp"),
        ("diff", "diff a.txt b.txt", "logic", "a.txt", "diff"), ("wc", "wc -l gone.txt", "logic", "gone.txt", "wc"),
        ("apt", "apt-get install -y nosuchpackage-x", "dependency", "Unable to locate package", "apt-get"),
        ("dpkg", "dpkg -i gone.deb", "logic", "gone.deb", "dpkg"), ("pip", "python3 -m pip install --no-index nosuchpackage-x", "dependency", "nosuchpackage-x", "python3"),
        ("npm", "npm run nosuchscript", "logic", "ENOENT", "npm"),
        ("openssl-enc", "openssl enc -nosuch", "dependency", "nosuch", "openssl"),
        ("ssh-keygen", "ssh-keygen -lf gone.pub", "logic", "gone.pub", "ssh-keygen"), ("ip", "ip link show nosuch0", "dependency", "nosuch0", "ip"),
        ("ping", "ping -c1 nosuchhost.invalid", "transient", "nosuchhost.invalid", "ping"), ("host", "getent hosts nosuchhost.invalid || { echo 'cannot resolve nosuchhost.invalid' >&2; exit 2; }", "transient", "nosuchhost.invalid", "getent"),
        ("nc", "timeout 0.3 bash -c 'sleep 3'", "transient", None, "timeout"), ("id", "id nosuchuser", "dependency", "nosuchuser", "id"),
        ("rsync-permission", "rsync -a /root/ out/", "environment", "Permission denied", "rsync"), ("cat-many", "cat one.txt two.txt", "logic", "one.txt", "cat")]:
    sh("coreutils", f"more-{name}", line, cls, core, tool, user=name == "rsync-permission")

for name, text, core in [
        ("map", "events {}\nhttp {\n@@  map $uri {\n    default 1;\n  }\n}\n", None),
        ("duplicate", "events {}\nhttp {\n  server {\n    listen 8997;\n    location / { return 200; }\n@@    location / { return 200; }\n  }\n}\n", "duplicate location"),
        ("value", "events {}\nhttp {\n@@  client_max_body_size 10x;\n}\n", "invalid value"),
        ("variable", "events {}\nhttp {\n  server {\n    listen 8996;\n@@    return 200 $nosuchvar;\n  }\n}\n", "unknown \"nosuchvar\" variable"),
        ("extra-brace", "events {}\nhttp {\n}\n@@}\n", "unexpected \"}\"")]:
    one("nginx", f"more-{name}", "nginx -t -p . -c nginx.conf", "logic", core, tool="nginx", files={"nginx.conf": "error_log stderr; pid nginx.pid;\n" + text}, at="nginx.conf" if name != "variable" else None)

for name, line, files, core in [
        ("json-python", "python3 -c \"import json; json.load(open('a.json'))\"", {"a.json": "[1, 2,, 3]\n"}, "JSONDecodeError"),
        ("csv", "python3 -c \"import csv; list(csv.DictReader(open('gone.csv')))\"", {}, "gone.csv"),
        ("xml-entity", "xmllint --noout a.xml", {"a.xml": "<a>\n@@ &nosuch;\n</a>\n"}, "nosuch"),
        ("xml-end", "xmllint --noout a.xml", {"a.xml": "<a>\n <b/>\n@@"}, None),
        ("jq-json", "jq . a.json", {"a.json": "{\"a\": tru}\n"}, "nvalid"),
        ("yamllint-dup", "yamllint -d relaxed a.yml", {"a.yml": "a: 1\n b: 2\n"}, "syntax error")]:
    one("data", f"more-{name}", line, "logic", core, tool=line.split()[0], files=files, at="a.xml" if any("@@" in t for t in files.values()) else None)
