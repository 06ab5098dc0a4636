"""bash, dash, zsh, ksh, mksh, busybox: what shells and the tools in scripts say."""

SHELLS = ["bash", "dash", "zsh", "ksh", "mksh", "busybox sh"]


def each(name, text, cls, core=None, only=None, file="job.sh", **more):
    for shell in only or SHELLS:
        short = shell.split()[0]
        said = core.get(short, core.get("*")) if isinstance(core, dict) else core
        case("shells", f"{name}-{short}", f"{shell} {file}", {file: text, **more.get("files", {})}, cls, file, said,
             tool=short, env=more.get("env"))


each("unset-variable", "# nightly totals\nset -u\necho start\nout=/tmp\n@@cp \"$SOURCE_DIR/a\" \"$out\"\n", "logic", "SOURCE_DIR")
each("unset-user", "set -eu\nn=1\nn=$((n + 1))\n@@echo \"for $LOGNAME: $n\" > mail.txt\n", "environment", "LOGNAME", only=["bash", "dash", "ksh", "mksh", "busybox sh"])
each("missing-tool", "set -e\necho one\nif true; then\n@@    exportreport --month 5\nfi\necho two\n", "environment", "exportreport")
each("missing-input", "set -e\nout=totals\nmkdir -p $out\nfor m in 1 2; do\n@@  cp in/month-$m.csv $out/\ndone\n", "logic", "cp: ")
each("cd-missing", "set -e\necho begin\n@@cd /srv/nowhere/data\nls\n", "logic", "/srv/nowhere/data")
each("redirect-missing-folder", "set -e\necho a\necho b\n@@date > reports/2024/today.txt\necho done\n", "logic", "reports/2024/today.txt")
each("read-missing-file", "set -e\ntotal=0\n@@while read -r n; do total=$((total + n)); done < amounts.txt\necho $total\n", "logic", "amounts.txt", only=["bash", "dash", "zsh", "mksh"])
each("open-quote", "echo one\n@@echo \"two\necho three\n", "logic", None, only=["bash", "zsh", "ksh", "mksh"])
each("fi-missing", "x=1\nif [ $x = 1 ]; then\n  echo yes\necho no\n@@", "logic", None, only=["dash", "bash", "zsh", "busybox sh"])
each("stray-done", "for i in 1 2; do\n  echo $i\ndone\n@@done\necho end\n", "logic", None)
each("not-executable", "set -e\nmkdir -p steps\necho 'echo x' > steps/load.txt\necho go\n@@steps/load.txt 5\n", "environment", "steps/load.txt")
each("required-variable", "set -e\necho a\n@@: \"${API_HOST:?the API host must be set}\"\ncurl $API_HOST\n", "logic", "the API host must be set")
each("readonly", "set -e\nreadonly limit=5\necho $limit\n@@limit=6\necho $limit\n", "logic", "limit")
each("source-missing", "#!/bin/sh\nset -e\necho a\n@@. ./settings.env\necho b\n", "logic", "settings.env")
each("bad-number", "set -e\ncount=\"12 files\"\n@@if [ \"$count\" -gt 5 ]; then echo many; else exit 3; fi\n", "logic", "12 files",
     only=["bash", "dash", "ksh"])
each("octal", "set -e\nday=08\n@@next=$((day + 1))\necho $next\n", "logic", "08", only=["dash"])
each("array-in-sh", "set -e\necho a\n@@files=(a b c)\necho ${files[0]}\n", "environment", None, only=["dash"], file="list.sh")
each("double-bracket-in-sh", "mode=fast\n@@if [[ $mode == fast ]]; then echo quick; else exit 4; fi\n", "environment", "[[", only=["dash"])
each("source-in-sh", "#!/bin/sh\nset -e\n@@source ./lib.sh\necho a\n", "environment", "source", only=["dash"], files={"lib.sh": "x=1\n"})
each("pipefail-in-sh", "#!/bin/sh\n@@set -euo pipefail\necho a\n", "environment", "pipefail", only=["dash"])
each("here-string-in-sh", "set -e\n@@read a <<< \"one\"\necho $a\n", "environment", None, only=["dash"])
each("substitution-in-sh", "v=abc\n@@echo ${v^^}\n", "environment", "ubstitution", only=["dash"])
each("no-match", "set -e\necho a\n@@ls data/*.csv\n", "logic", "no matches found", only=["zsh"])
each("ambiguous-redirect", "set -e\nout=\n@@echo hello > $out\n", "logic", "ambiguous redirect", only=["bash"])
each("division-by-zero", "set -e\nn=0\n@@mean=$((100 / n))\necho $mean\n", "logic", None, only=["dash", "zsh", "ksh"])
each("unquoted-test", "set -e\nfile=\"my notes.txt\"\n@@if [ -f $file ]; then cat \"$file\"; else exit 2; fi\n", "logic", None, only=["bash"])
each("bad-option-of-set", "@@set -o nosuchoption\necho x\nexit 1\n", "dependency", "nosuchoption", only=["bash"])

case("shells", "crlf", "bash job.sh", {"job.sh": "#!/bin/bash\r\nset -e\r\n@@cd data\r\nls\r\n", "data/a": ""}, "environment", "job.sh:2", None, tool="bash")
case("shells", "crlf-if", "bash job.sh", {"job.sh": "x=1\r\nif [ $x = 1 ]; then\r\n  echo a\r\nfi\r\n"}, "environment", "job.sh:5", "syntax error", tool="bash")
case("shells", "bad-interpreter", "./job.sh", {"job.sh": "#!/usr/local/nowhere/bash\necho x\n"}, "environment", None, "required file not found", tool="bash")
case("shells", "env-interpreter", "./job", {"job": "#!/usr/bin/env python9.9\nprint(1)\n"}, "environment", None, "python9.9", tool="bash")
case("shells", "inline", "bash -c 'set -e; cd /srv/x9; ls'", {}, "logic", None, "/srv/x9", tool="bash")
case("shells", "inline-sh", "sh -c 'fetchall -q'", {}, "environment", None, "fetchall", tool="sh")
case("shells", "function-and-sourced", "bash main.sh", {
    "main.sh": "#!/bin/bash\nset -e\n. ./lib.sh\nprepare\nload\n",
    "lib.sh": "prepare() {\n  mkdir -p work\n}\nload() {\n  local n=1\n@@  mysteryload work/$n\n}\n"}, "environment", "lib.sh", "mysteryload", tool="bash")
case("shells", "child-script", "bash main.sh", {
    "main.sh": "set -e\necho begin\nbash steps/two.sh\n", "steps/two.sh": "set -u\na=1\n@@echo $REGION $a\n"}, "logic", "steps/two.sh", "REGION", tool="bash")
case("shells", "pipe-failed", "bash job.sh", {
    "job.sh": "set -eo pipefail\necho start\n@@sort amounts.tsv | uniq -c | head -3\necho end\n"}, "logic", "job.sh", "amounts.tsv", tool="bash")
case("shells", "trap-output", "bash job.sh", {
    "job.sh": "set -eE\ntrap 'echo \"job.sh failed at line $LINENO with $?\" >&2' ERR\necho a\necho b\n@@mv staged.dat final.dat\n"}, "logic", "job.sh", "staged.dat", tool="bash")
case("shells", "trace-on", "bash job.sh", {
    "job.sh": "set -ex\nn=3\nmkdir -p out\n@@gzip out/export-$n.sql\necho ok\n"}, "logic", "job.sh", "out/export-3.sql", tool="bash")
case("shells", "own-message", "bash job.sh", {
    "job.sh": "set -e\nn=0\nif [ $n -lt 1 ]; then\n@@  echo \"publish: nothing was built, giving up\" >&2\n  exit 12\nfi\n"}, None, "job.sh", "nothing was built", tool="bash")
case("shells", "killed", "bash job.sh", {"job.sh": "echo a\n@@bash -c 'kill -9 $$'\nexit 137\n"}, "resource", "job.sh", None, tool="bash")
case("shells", "function-not-defined", "bash job.sh", {
    "job.sh": "set -e\nlog() { echo \"$*\"; }\nlog one\n@@logerror two\n"}, "environment", "job.sh", "logerror", tool="bash")
case("shells", "unexpected-eof-in-sub", "bash job.sh", {"job.sh": "a=1\n@@b=$(echo $a\necho $b\n"}, "logic", "job.sh", None, tool="bash")
case("shells", "argument-list", "bash job.sh", {"job.sh": "set -e\nx=$(head -c 3000000 /dev/zero | tr '\\0' 'a')\n@@ls \"$x\"\n"}, None, "job.sh", "Argument list too long", tool="bash")
case("shells", "declare-bad", "bash job.sh", {"job.sh": "set -e\n@@declare -Q x=1\n"}, "dependency", "job.sh", "-Q", tool="bash")
case("shells", "tcsh-missing", "tcsh job.csh", {"job.csh": "set a = 1\necho $a\nnosuchthing $a\n"}, "environment", None, "nosuchthing", tool="tcsh")
case("shells", "fish-missing", "fish job.fish", {"job.fish": "set a 1\necho $a\n@@nosuchthing $a\n"}, "environment", "job.fish", "nosuchthing", tool="fish")
# Answers and successes.
case("shells", "grep-none", "grep -n ERROR app.log", {"app.log": "all well\n"}, outcome="negative", tool="grep")
case("shells", "diff-differs", "diff -u a.txt b.txt", {"a.txt": "one\n", "b.txt": "error: two\n"}, outcome="negative", tool="diff")
case("shells", "cmp-differs", "cmp a.txt b.txt", {"a.txt": "one\n", "b.txt": "two\n"}, outcome="negative", tool="cmp")
case("shells", "pipe-grep-none", "cat app.log | grep -c FATAL", {"app.log": "all well\n"}, outcome="negative", tool="grep")
case("shells", "test-false", "test -f nothing", {}, outcome="negative", tool="bash")
case("shells", "succeeded", "bash job.sh", {"job.sh": "echo 'error: 0 found'\n"}, outcome="succeeded", tool="bash")
case("shells", "git-diff-differs", "git diff --no-index --exit-code a b", {"a": "1\n", "b": "2\n"}, outcome="negative", tool="git")
case("shells", "pgrep-none", "pgrep -x nosuchprocessname", {}, outcome="negative", tool="pgrep")
