"""awk, sed, make, jq, SQL clients, git, ssh, rsync, curl, wget, tar and other archivers, core tools."""


def sh(family, name, line, cls, core, tool, files=None, before="set -e\necho start\n", **more):
    """A script whose third line is the command, and the same command alone."""
    case(family, name, "bash job.sh", {"job.sh": f"{before}@@{line}\necho end\n", **(files or {})}, cls, "job.sh", core, tool=tool, **more)


def one(family, name, line, cls, core, tool=None, files=None, at=None, **more):
    case(family, name, line, files or {}, cls, at, core, tool=tool or line.split()[0], **more)


DATA = {"in.csv": "id,qty\n1,5\n2,7\n"}
for awk in ("gawk", "mawk"):
    one("awk", f"syntax-{awk}", f"{awk} -f sum.awk in.csv", "logic", None, at="sum.awk", files={"sum.awk": "BEGIN { FS = \",\" }\n{ sum += $2\n@@END { print sum }\n", **DATA} if awk == "mawk" else {"sum.awk": "BEGIN { FS = \",\" }\n@@{ sum += $2 ) }\nEND { print sum }\n", **DATA})
    one("awk", f"no-input-{awk}", f"{awk} '{{ print $1 }}' missing.csv", "logic", "missing.csv")
    one("awk", f"no-program-{awk}", f"{awk} -f nosuch.awk in.csv", "logic", "nosuch.awk", files=DATA)
    one("awk", f"division-{awk}", f"{awk} -f mean.awk in.csv", "logic", "division by zero", at="mean.awk" if awk == "gawk" else None, files={"mean.awk": "BEGIN { n = 0 }\nEND {\n@@  print 10 / n\n}\n", **DATA}) if awk == "gawk" else None
    sh("awk", f"in-script-{awk}", f"{awk} -F, '{{ s += $2 }} END {{ print s }}' sales.csv > out.txt", "logic", "sales.csv", awk)
one("awk", "function-gawk", "gawk -f a.awk in.csv", "logic", "nosuchfn", at="a.awk", files={"a.awk": "{ x = 1 }\n@@{ print nosuchfn($1) }\n", **DATA})
one("awk", "inline-syntax-gawk", "gawk '{ print $1 ' in.csv", "logic", None, files=DATA)

one("sed", "unknown-command", "sed 's/a/b/ k' in.csv", "logic", "unknown option to `s'", files=DATA)
one("sed", "unterminated", "sed 's/a/b' in.csv", "logic", "unterminated `s' command", files=DATA)
one("sed", "script-line", "sed -f fix.sed in.csv", "logic", "fix.sed", at="fix.sed", files={"fix.sed": "s/a/b/\n@@s/x/y\n", **DATA})
sh("sed", "no-file", "sed -i 's/old/new/' conf/app.ini", "logic", "conf/app.ini", "sed")
sh("sed", "bad-option", "sed --nosuch s/a/b/ in.csv", "dependency", "nosuch", "sed", DATA)
sh("sed", "brackets", "sed 's/[a/b/' in.csv", "logic", "unterminated", "sed", DATA)

one("make", "recipe-fails", "make", "logic", "report.txt", files={"Makefile": "all: out.txt\n\nout.txt:\n@@\tcp report.txt out.txt\n"}, at="Makefile")
one("make", "no-rule", "make", "logic", "No rule to make target", at="Makefile", files={"Makefile": "@@all: data.bin\n\techo done\n"})
one("make", "no-rule-named", "make deploy", "dependency", "No rule to make target", files={"Makefile": "all:\n\techo done\n"})
one("make", "separator", "make", "logic", "missing separator", files={"Makefile": "all:\n@@    echo blanks\n"}, at="Makefile")
one("make", "recursive", "make", "environment", "nosuchcompiler", files={"Makefile": "all:\n\t$(MAKE) -C lib build\n", "lib/Makefile": "build:\n\techo lib\n@@\tnosuchcompiler -o a.o a.x\n"}, at="lib/Makefile")
one("make", "recursive-missing-folder", "make", "logic", "nolib", files={"Makefile": "all:\n@@\t$(MAKE) -C nolib build\n"}, at="Makefile")
one("make", "own-error", "make check", None, "counts differ", files={"Makefile": "check:\n\techo checking\n@@\t@echo 'counts differ: 3 and 4' >&2; exit 1\n"}, at="Makefile")
one("make", "error-function", "make", None, "VERSION is not set", files={"Makefile": "ifndef VERSION\n@@$(error VERSION is not set)\nendif\nall:\n\techo x\n"}, at="Makefile")
one("make", "no-makefile", "make", "logic", "No targets specified", files={})
one("make", "test-in-recipe", "make", "logic", "Error 1", files={"Makefile": "all:\n\techo a\n@@\ttest -s build.log\n"}, at="Makefile")
one("make", "gcc-error", "make prog", "logic", "undeclared", tool="gcc", files={"Makefile": "prog: prog.c\n\tgcc -o prog prog.c\n", "prog.c": "int main(void) {\n  int a = 1;\n@@  return totl;\n}\n"}, at="prog.c")
one("make", "gcc-header", "gcc -c prog.c", "environment", "nosuchlib.h", tool="gcc", files={"prog.c": "@@#include <nosuchlib.h>\nint main(void) { return 0; }\n"}, at="prog.c")
one("make", "gcc-link", "gcc -o prog prog.c", "logic", "undefined reference", tool="gcc", files={"prog.c": "int compute(int);\nint main(void) {\n  return compute(1);\n}\n"})
one("make", "cmake-version", "cmake .", "dependency", None, tool="cmake", files={"CMakeLists.txt": "@@cmake_minimum_required(VERSION 99.0)\nproject(x)\n"}, at="CMakeLists.txt")
one("make", "cmake-package", "cmake .", "environment", "NoSuchLib", tool="cmake", files={"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x NONE)\n@@find_package(NoSuchLib REQUIRED)\n"}, at="CMakeLists.txt")

J = {"in.json": "{\"items\": [{\"id\": 1}], \"total\": null}\n", "bad.json": "{\"a\": 1,\n \"b\": }\n"}
one("jq", "syntax", "jq '.items[' in.json", "logic", "syntax error", files=J)
one("jq", "parse", "jq . bad.json", "logic", "parse error", files=J)
one("jq", "iterate-null", "jq '.rows[]' in.json", "dependency", "Cannot iterate over null", files=J)
one("jq", "index", "jq '.items.name' in.json", "logic", "Cannot index array with", files=J)
one("jq", "function", "jq 'nosuchfn(1)' in.json", "logic", "nosuchfn", files=J)
one("jq", "no-file", "jq . nothing.json", "logic", "nothing.json", files=J)
sh("jq", "in-pipe", "cat bad.json | jq -r .a > out.txt; exit ${PIPESTATUS[1]}", "logic", "parse error", "jq", J)
sh("jq", "error", "jq -e 'if .total == null then error(\"no total in the answer\") else .total end' in.json", "logic", "no total in the answer", "jq", J)

one("sql", "sqlite-table", "sqlite3 x.db 'select * from customers'", "dependency", "no such table: customers")
one("sql", "sqlite-column", "sqlite3 x.db 'create table t(a); select b from t'", "dependency", "no such column: b")
one("sql", "sqlite-syntax", "sqlite3 x.db 'selct 1'", "logic", "syntax error")
one("sql", "sqlite-unique", "sqlite3 x.db 'create table t(a unique); insert into t values(1),(1)'", "logic", "UNIQUE constraint failed")
one("sql", "sqlite-file", "sqlite3 x.db < load.sql", "dependency", "no such table: stock", files={"load.sql": "create table a(x);\ninsert into a values(1);\n@@insert into stock values(1);\n"}, at=None)
one("sql", "sqlite-not-a-db", "sqlite3 x.db .tables", "logic", "file is not a database", setup="head -c 4096 /dev/urandom > x.db")
one("sql", "psql-refused", "psql -h 127.0.0.1 -p 9 -c 'select 1'", "transient", "Connection refused")
one("sql", "psql-host", "psql -h nosuchdb.invalid -c 'select 1'", "transient", "could not translate host name")
one("sql", "psql-no-file", "psql -h 127.0.0.1 -p 9 -f load.sql", "transient", "Connection refused")
sh("sql", "psql-in-script", "psql -h 127.0.0.1 -p 9 -At -c 'select count(*) from jobs'", "transient", "Connection refused", "psql")
one("sql", "mariadb-refused", "mariadb -h 127.0.0.1 -P 9 -e 'select 1'", "transient", "Can't connect to")
one("sql", "mariadb-host", "mariadb -h nosuchdb.invalid -e 'select 1'", "transient", "nosuchdb.invalid")
one("sql", "mariadb-socket", "mariadb -e 'select 1'", "transient", "local server through socket")
one("sql", "mariadb-option", "mariadb --nosuch-option -e 'select 1'", "dependency", "nosuch-option")
sh("sql", "mariadb-dump", "mariadb-dump -h 127.0.0.1 -P 9 shop > shop.sql", "transient", "Can't connect to", "mariadb-dump")
one("sql", "redis-refused", "redis-cli -p 9 ping", "transient", "Connection refused")
for name, said, code, cls, core in [
        ("psql-relation", "psql:load.sql:3: ERROR:  relation \"orders\" does not exist\nLINE 1: insert into orders values (1);\n                    ^\n", 3, "dependency", "relation \"orders\" does not exist"),
        ("psql-password", "psql: error: connection to server at \"db1\" (10.0.0.5), port 5432 failed: FATAL:  password authentication failed for user \"app\"\n", 2, "environment", "password authentication failed"),
        ("psql-database", "psql: error: connection to server at \"db1\" (10.0.0.5), port 5432 failed: FATAL:  database \"salse\" does not exist\n", 2, "dependency", "database \"salse\" does not exist"),
        ("mysql-access", "ERROR 1045 (28000): Access denied for user 'app'@'localhost' (using password: YES)\n", 1, "environment", "Access denied for user"),
        ("mysql-table", "ERROR 1146 (42S02) at line 3: Table 'shop.orders' doesn't exist\n", 1, "dependency", "Table 'shop.orders' doesn't exist"),
        ("mysql-syntax", "ERROR 1064 (42000) at line 7: You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'form t' at line 1\n", 1, "logic", "error in your SQL syntax"),
        ("mysql-gone", "ERROR 2013 (HY000) at line 12: Lost connection to MySQL server during query\n", 1, "transient", "Lost connection"),
        ("psql-deadlock", "ERROR:  deadlock detected\nDETAIL:  Process 18 waits for ShareLock on transaction 7; blocked by process 19.\nHINT:  See server log for query details.\n", 1, "transient", "deadlock detected"),
]:
    command = "psql -v ON_ERROR_STOP=1 -f load.sql" if name.startswith("psql") else "mysql shop < load.sql"
    case("sql", name, command, {"load.sql": "begin;\nselect 1;\n@@insert into orders values (1);\n" + "select 2;\n" * 12}, cls,
         {"psql-relation": "load.sql:3"}.get(name), core, setup=said, exit_code=code,
         documented="PostgreSQL 16 and MySQL 8 error messages, from their documentation")

G = "git init -q -b main r && cd r && git config user.email a@b && git config user.name a && echo 1 > f && git add f && git commit -qm 1"
one("git", "not-a-repository", "git status", "environment", "not a git repository")
sh("git", "branch", "cd r; git checkout -q release", "dependency", "release", "git", setup=G)
one("git", "pathspec", "git -C r checkout nosuch", "dependency", "nosuch", setup=G)
one("git", "remote", "git -C r push origin main", "dependency", "origin", setup=G)
one("git", "resolve", "git clone https://nosuchhost.invalid/a.git", "transient", "Could not resolve host")
one("git", "clone-missing", "git clone ./nosuch.git copy", "dependency", "does not exist")
one("git", "exists", "git clone r full", "logic", "already exists and is not an empty directory", setup=G + "; cd ..; mkdir full; touch full/a")
one("git", "lock", "git -C r commit -qam 2", "transient", "index.lock", setup=G + "; touch .git/index.lock")
one("git", "conflict", "git -C r merge other", "logic", "CONFLICT", setup=G + "; git checkout -qb other; echo 2 > f; git commit -qam 2; git checkout -q main; echo 3 > f; git commit -qam 3")
one("git", "overwritten", "git -C r checkout other", "logic", "would be overwritten", setup=G + "; git checkout -qb other; echo 2 > f; git commit -qam 2; git checkout -q main; echo 3 > f")
one("git", "option", "git -C r log --nosuch", "dependency", "--nosuch", setup=G)
one("git", "command", "git nosuchcmd", "dependency", "nosuchcmd")
one("git", "revision", "git -C r rev-parse --verify v9.9", "dependency", "Needed a single revision", setup=G)
one("git", "rejected", "git -C r push -q ../bare main", "dependency", "rejected", setup=G + "; cd ..; git init -q --bare -b main bare; cd r; git push -q ../bare main; cd ..; git clone -q bare c2; cd c2; git config user.email a@b; git config user.name b; echo 9 > f; git commit -qam 9; git push -q; cd ../r; echo 8 > f; git commit -qam 8")
sh("git", "pull-in-script", "git -C r pull -q upstream main", "dependency", "upstream", "git", setup=G)
one("git", "refspec", "git -C r push ../bare nosuch", "dependency", "nosuch", setup=G + "; cd ..; git init -q --bare bare")

one("ssh", "resolve", "ssh -o BatchMode=yes web.nosuch.invalid uptime", "transient", "Could not resolve hostname")
one("ssh", "refused", "ssh -o BatchMode=yes -p 9 127.0.0.1 uptime", "transient", "Connection refused")
sh("ssh", "scp", "scp -o BatchMode=yes -P 9 a.txt 127.0.0.1:/tmp/", "transient", "Connection refused", "ssh", {"a.txt": "x"})
one("ssh", "identity-file", "ssh -o BatchMode=yes -i nokey -p 9 127.0.0.1 id", "transient", "Connection refused")
one("ssh", "bad-option", "ssh -o NoSuchOption=yes host id", "dependency", "nosuchoption")
for name, said, code, cls, core in [
        ("host-key", "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\nIT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\nAdd correct host key in /root/.ssh/known_hosts to get rid of this message.\nHost key verification failed.\n", 255, "environment", "Host key verification failed"),
        ("publickey", "backup@store1: Permission denied (publickey,password).\n", 255, "environment", "Permission denied (publickey"),
        ("timeout", "ssh: connect to host 10.9.8.7 port 22: Connection timed out\n", 255, "transient", "Connection timed out"),
        ("closed", "kex_exchange_identification: Connection closed by remote host\nConnection closed by 10.0.0.4 port 22\n", 255, "transient", "closed"),
        ("no-route", "ssh: connect to host 10.9.8.7 port 22: No route to host\n", 255, "transient", "No route to host"),
        ("key-mode", "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\n@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\nPermissions 0644 for 'deploy.key' are too open.\nIt is required that your private key files are NOT accessible by others.\nThis private key will be ignored.\nLoad key \"deploy.key\": bad permissions\nbackup@store1: Permission denied (publickey).\n", 255, "environment", None),
]:
    case("ssh", name, "ssh -i deploy.key backup@store1 df", {}, cls, None, core, setup=said, exit_code=code,
         documented="OpenSSH 9.2 sources (sshconnect.c, ssh.c, authfile.c)")

one("rsync", "source", "rsync -a missing/ dest/", "logic", "missing")
one("rsync", "refused", "rsync -a rsync://127.0.0.1:9/mod/ dest/", "transient", "Connection refused")
one("rsync", "option", "rsync --nosuch a b", "dependency", "--nosuch")
sh("rsync", "dest-folder", "rsync -a a.txt out/deep/er/", "logic", "out/deep/er", "rsync", {"a.txt": "x"})
sh("rsync", "remote-shell", "rsync -a -e 'ssh -o BatchMode=yes -p 9' a.txt 127.0.0.1:/x/", "transient", "Connection refused", "rsync", {"a.txt": "x"})
one("rsync", "resolve", "rsync -a -e 'ssh -o BatchMode=yes' a.txt store.nosuch.invalid:/x/", "transient", "Could not resolve hostname", files={"a.txt": "x"})

one("curl", "resolve", "curl -sS https://api.nosuch.invalid/v1", "transient", "Could not resolve host")
one("curl", "refused", "curl -fsS http://127.0.0.1:9/health", "transient", "curl: (7)")
one("curl", "silent", "curl -fs http://127.0.0.1:9/health", "transient", None)
one("curl", "malformed", "curl -sS 'http://[bad/x'", "logic", "curl: (3)")
one("curl", "protocol", "curl -sS foo://x/y", "logic", "curl: (1)")
one("curl", "option", "curl --nosuch http://x", "dependency", "--nosuch")
one("curl", "output-folder", "curl -sS -o out/dir/a.txt file:///etc/hostname", "logic", "curl: (23)")
one("curl", "upload", "curl -sS -T nothing.bin http://127.0.0.1:9/", "logic", "nothing.bin")
SERVE = "import http.server,sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        code=int(self.path.strip('/').split('/')[0]); self.send_response(code); self.send_header('Content-Type','application/json'); self.end_headers(); self.wfile.write(open('body.txt','rb').read())\n    def log_message(self,*a): pass\ns=http.server.HTTPServer(('127.0.0.1',0),H)\nopen('port','w').write(str(s.server_port))\ns.handle_request()\n"


def web(name, status, cls, core, body="{}\n", line="curl -fsS http://127.0.0.1:$(cat port)/{s}/data -o data.json", at="job.sh", tool="curl", **more):
    case("curl", name, "bash job.sh", {"serve.py": SERVE, "body.txt": body,
         "job.sh": "set -e\npython3 serve.py >/dev/null 2>&1 &\nuntil [ -s port ]; do :; done\n@@" + line.replace("{s}", str(status)) + "\necho got it\n"}, cls, at, core, tool=tool, **more)


web("status-404", 404, "dependency", "404")
web("status-503", 503, "transient", "503")
web("status-401", 401, "environment", "401")
web("status-429", 429, "transient", "429")
web("status-500", 500, "transient", "500")
web("json-body", 422, "dependency", "422", body="{\"error\": {\"code\": 422, \"message\": \"the quota of project is used up\"}}\n", line="curl -sS --fail-with-body http://127.0.0.1:$(cat port)/422/data")
web("xml-body", 403, "environment", None, body="<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>\n", line="curl -sS --fail-with-body http://127.0.0.1:$(cat port)/403/data")
one("curl", "wget-resolve", "wget -nv http://files.nosuch.invalid/a.tgz", "transient", "unable to resolve host address", tool="wget")
one("curl", "wget-refused", "wget -nv http://127.0.0.1:9/a.tgz", "transient", "Connection refused", tool="wget")
one("curl", "wget-option", "wget --nosuch http://x", "dependency", "nosuch", tool="wget")
sh("curl", "piped-to-jq", "curl -fsS http://127.0.0.1:9/v1 | jq .items", "transient", "curl: (7)", "curl", before="set -eo pipefail\necho start\n")

one("archives", "tar-missing", "tar -czf out.tgz data", "logic", "data: Cannot stat")
one("archives", "tar-archive", "tar -xzf release.tgz", "logic", "release.tgz")
one("archives", "tar-not-gzip", "tar -xzf a.tgz", "logic", "not in gzip format", files={"a.tgz": "this is text\n"})
one("archives", "tar-truncated", "tar -xzf a.tgz", "logic", "unexpected end of file", setup="mkdir d; head -c 200000 /dev/urandom > d/x; tar -czf b.tgz d; head -c 1000 b.tgz > a.tgz; rm -r d b.tgz")
one("archives", "tar-option", "tar --nosuch -cf a.tar .", "dependency", "--nosuch")
sh("archives", "tar-in-script", "tar -C /srv/web9 -cf site.tar .", "logic", "/srv/web9", "tar")
one("archives", "gunzip", "gunzip a.gz", "logic", "not in gzip format", tool="gzip", files={"a.gz": "text\n"})
one("archives", "unzip-missing", "unzip -q pack.zip", "logic", "pack.zip")
one("archives", "unzip-bad", "unzip -q pack.zip", "logic", "End-of-central-directory", files={"pack.zip": "no zip at all\n"})
one("archives", "xz-bad", "xz -d a.xz", "logic", "File format not recognized", files={"a.xz": "text\n"})
one("archives", "zstd-missing", "zstd -q nothing.dat", "logic", "nothing.dat")
one("archives", "sha256", "sha256sum -c sums", "logic", "FAILED", files={"sums": "0000000000000000000000000000000000000000000000000000000000000000  a.txt\n", "a.txt": "x\n"})
one("archives", "sha256-missing", "sha256sum -c sums", "logic", "b.txt", files={"sums": "0000000000000000000000000000000000000000000000000000000000000000  b.txt\n"})

sh("coreutils", "mkdir", "mkdir out/today", "logic", "out/today", "mkdir")
sh("coreutils", "mkdir-exists", "mkdir out", "logic", "File exists", "mkdir", {"out/": ""})
sh("coreutils", "rmdir", "rmdir stage", "logic", "Directory not empty", "rmdir", {"stage/x": "1"})
sh("coreutils", "rm-folder", "rm stage", "logic", "Is a directory", "rm", {"stage/x": "1"})
sh("coreutils", "ln-exists", "ln -s a current", "logic", "File exists", "ln", {"current": "x"})
sh("coreutils", "cp-folder", "cp conf backup", "logic", "-r not specified", "cp", {"conf/a": "1"})
sh("coreutils", "mv-not-dir", "mv a.txt b.txt target", "logic", "target", "mv", {"a.txt": "1", "b.txt": "1", "target": "x"})
sh("coreutils", "sort-option", "sort --nosuch in.csv", "dependency", "--nosuch", "sort", DATA)
sh("coreutils", "date-format", "date -d 'no such day' +%F", "logic", "invalid date", "date")
sh("coreutils", "head-number", "head -n abc in.csv", "logic", "abc", "head", DATA)
sh("coreutils", "disk-full", "cat in.csv > /dev/full", "resource", "No space left on device", "cat", DATA)
sh("coreutils", "dd-full", "dd if=/dev/zero of=/dev/full bs=1k count=1 status=none", "resource", "No space left on device", "dd")
sh("coreutils", "chown-user", "chown nosuchuser in.csv", "dependency", "invalid user", "chown", DATA)
sh("coreutils", "find-missing", "find archive -name '*.log' -mtime +7 -delete", "logic", "archive", "find")
sh("coreutils", "find-option", "find . -nosuchtest x", "dependency", "-nosuchtest", "find")
sh("coreutils", "xargs", "echo a | xargs nosuchprog", "environment", "nosuchprog", "xargs")
sh("coreutils", "timeout", "timeout 0.2 sleep 5", "transient", None, "timeout")
sh("coreutils", "comm-order", "comm -12 a b", "dependency", "not in sorted order", "comm", {"a": "b\na\n", "b": "a\nb\n"})
sh("coreutils", "join-order", "join --check-order a b", "dependency", "is not sorted", "join", {"a": "b 1\na 1\n", "b": "a 1\nb 1\n"})
sh("coreutils", "cut-list", "cut -f 0 in.csv", "logic", "fields are numbered from 1", "cut", DATA)
sh("coreutils", "tee-folder", "echo x | tee out/log.txt; exit ${PIPESTATUS[1]}", "logic", "out/log.txt", "tee")
sh("coreutils", "install", "install -m 755 app /opt/no/such/bin/app", "logic", "/opt/no/such/bin/app", "install", {"app": "x"})
sh("coreutils", "permission", "cat /etc/shadow", "environment", "Permission denied", "cat", user=True)
sh("coreutils", "kill", "kill 4194000", "logic", "No such process", "bash")
sh("coreutils", "split-bytes", "split -b 10x in.csv", "logic", "invalid number of bytes", "split", DATA)
sh("coreutils", "numfmt", "numfmt --from=iec abc", "logic", "invalid number", "numfmt")
sh("coreutils", "sleep", "sleep abc", "logic", "invalid time interval", "sleep")
sh("coreutils", "openssl", "openssl x509 -in cert.pem -noout", "logic", "cert.pem", "openssl")
sh("coreutils", "gpg", "gpg --batch --decrypt data.gpg > data", "logic", "data.gpg", "gpg")
sh("coreutils", "mktemp", "mktemp /nosuch/dir/XXXXXX", "logic", "/nosuch/dir", "mktemp")
sh("coreutils", "flock", "flock -n lock true || { echo 'another run holds the lock' >&2; exit 1; }", "transient", "another run holds the lock", "flock", setup="exec 9>lock; flock 9; sleep 3 <&9 >/dev/null 2>&1 &")
sh("coreutils", "crontab", "crontab nosuch.cron", "logic", "nosuch.cron", "crontab")
sh("coreutils", "glob", "cp in/*.dat out/", "logic", "in/*.dat", "cp", {"in/": "", "out/": ""})
sh("coreutils", "name-with-blanks", "f='year end.txt'; wc -l $f", "logic", "year", "wc", {"year end.txt": "1\n"})
sh("coreutils", "empty-name", "f=; cat \"$f\"", "logic", None, "cat")
