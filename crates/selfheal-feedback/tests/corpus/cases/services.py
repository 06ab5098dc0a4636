"""docker, kubectl, systemd, nginx, Caddy; configuration and data files; other machines; other languages; PowerShell."""


def one(family, name, line, cls, core, tool=None, files=None, at=None, **more):
    case(family, name, line, files or {}, cls, at, core, tool=tool or line.split()[0], **more)


def sh(family, name, line, cls, core, tool, files=None, at="job.sh", **more):
    case(family, name, "bash job.sh", {"job.sh": f"set -e\necho start\n@@{line}\necho end\n", **(files or {})}, cls, at, core, tool=tool, **more)


def said(family, name, line, text, code, cls, core, source, at=None, files=None, **more):
    case(family, name, line, files or {}, cls, at, core, setup=text, exit_code=code, documented=source, **more)


DH = {"DOCKER_HOST": "tcp://127.0.0.1:9"}
one("docker", "daemon", "docker ps", "transient", "daemon", env=DH)
sh("docker", "daemon-in-script", "docker run --rm alpine true", "transient", "daemon", "docker", env=DH)
one("docker", "option", "docker run --nosuch x", "dependency", "--nosuch")
one("docker", "command", "docker nosuchcmd", "dependency", "nosuchcmd")
D = "Docker Engine 24 CLI and daemon messages (moby, docker/cli sources)"
for name, line, text, code, cls, core in [
        ("no-container", "docker exec web ls", "Error response from daemon: No such container: web\n", 1, "dependency", "No such container: web"),
        ("no-image", "docker run app:9", "Unable to find image 'app:9' locally\ndocker: Error response from daemon: pull access denied for app, repository does not exist or may require 'docker login': denied: requested access to the resource is denied.\nSee 'docker run --help'.\n", 125, "dependency", "pull access denied for app"),
        ("name-in-use", "docker run --name db postgres", "docker: Error response from daemon: Conflict. The container name \"/db\" is already in use by container \"4f1c\". You have to remove (or rename) that container to be able to reuse that name.\nSee 'docker run --help'.\n", 125, "logic", "is already in use"),
        ("port-in-use", "docker run -p 80:80 nginx", "docker: Error response from daemon: driver failed programming external connectivity on endpoint web (abc): Error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use.\n", 125, "transient", "address already in use"),
        ("executable", "docker run alpine nosuch", "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"nosuch\": executable file not found in $PATH: unknown.\n", 127, "environment", "executable file not found"),
        ("build-step", "docker build .", "#5 [2/3] RUN apt-get install -y nosuchpkg\n#5 1.204 E: Unable to locate package nosuchpkg\n#5 ERROR: process \"/bin/sh -c apt-get install -y nosuchpkg\" did not complete successfully: exit code: 100\n------\nDockerfile:2\n--------------------\n   1 |     FROM debian:12\n   2 | >>> RUN apt-get install -y nosuchpkg\n   3 |     CMD [\"true\"]\n--------------------\nERROR: failed to solve: process \"/bin/sh -c apt-get install -y nosuchpkg\" did not complete successfully: exit code: 100\n", 1, "dependency", "Unable to locate package nosuchpkg"),
        ("dockerfile", "docker build .", "Dockerfile:3\n--------------------\n   1 |     FROM debian:12\n   2 |     COPY a /a\n   3 | >>> RUNN make\n--------------------\nERROR: failed to solve: dockerfile parse error on line 3: unknown instruction: RUNN (did you mean RUN?)\n", 1, "logic", "unknown instruction: RUNN"),
        ("rate", "docker pull nginx", "Error response from daemon: toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit\n", 1, "transient", "toomanyrequests"),
        ("no-space", "docker pull nginx", "failed to register layer: write /usr/lib/libx.so: no space left on device\n", 1, "resource", "no space left on device"),
        ("socket-permission", "docker ps", "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/json\": dial unix /var/run/docker.sock: connect: permission denied\n", 1, "environment", "permission denied"),
        ("compose-file", "docker compose up -d", "yaml: line 7: mapping values are not allowed in this context\n", 1, "logic", "mapping values are not allowed")]:
    at = {"build-step": "Dockerfile:2", "dockerfile": "Dockerfile:3"}.get(name)
    files = {"Dockerfile": "FROM debian:12\nRUN apt-get install -y nosuchpkg\nCMD [\"true\"]\n" if name == "build-step" else "FROM debian:12\nCOPY a /a\nRUNN make\n"} if at else {}
    said("docker", name, line, text, code, cls, core, D, at=at, files=files)

K = {"KUBECONFIG": "{JOB}/kubeconfig"}
one("kubectl", "refused", "kubectl --server http://127.0.0.1:9 get pods", "transient", "refused")
one("kubectl", "context", "kubectl --context nosuch get pods", "dependency", "nosuch")
one("kubectl", "option", "kubectl get pods --nosuch", "dependency", "--nosuch")
one("kubectl", "command", "kubectl nosuchcmd", "dependency", "nosuchcmd")
one("kubectl", "no-file", "kubectl --server http://127.0.0.1:9 apply -f app.yaml", "logic", "app.yaml")
sh("kubectl", "rollout-in-script", "kubectl --server http://127.0.0.1:9 rollout status deploy/web", "transient", "refused", "kubectl")
KS = "kubectl 1.29 messages (kubernetes sources)"
for name, line, text, code, cls, core in [
        ("not-found", "kubectl get deploy web", "Error from server (NotFound): deployments.apps \"web\" not found\n", 1, "dependency", "NotFound"),
        ("forbidden", "kubectl get secrets", "Error from server (Forbidden): secrets is forbidden: User \"ci\" cannot list resource \"secrets\" in API group \"\" in the namespace \"prod\"\n", 1, "environment", "Forbidden"),
        ("invalid", "kubectl apply -f app.yaml", "The Deployment \"web\" is invalid: spec.template.metadata.labels: Invalid value: map[string]string{\"app\":\"b\"}: `selector` does not match template `labels`\n", 1, "logic", "is invalid"),
        ("timeout", "kubectl get pods", "Unable to connect to the server: net/http: TLS handshake timeout\n", 1, "transient", "TLS handshake timeout"),
        ("certificate", "kubectl get pods", "Unable to connect to the server: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is after 2025-12-31T00:00:00Z\n", 1, "environment", "x509"),
        ("rollout", "kubectl rollout status deploy/web --timeout=60s", "Waiting for deployment \"web\" rollout to finish: 0 of 1 updated replicas are available...\nerror: timed out waiting for the condition\n", 1, "transient", "timed out waiting")]:
    said("kubectl", name, line, text, code, cls, core, KS)

one("systemd", "no-bus", "systemctl restart nginx", None, None)
S = "systemd 252 messages (sources and manual pages)"
for name, line, text, code, cls, core in [
        ("no-unit", "systemctl start nosuch.service", "Failed to start nosuch.service: Unit nosuch.service not found.\n", 5, "dependency", "Unit nosuch.service not found"),
        ("start-failed", "systemctl restart app", "Job for app.service failed because the control process exited with error code.\nSee \"systemctl status app.service\" and \"journalctl -xeu app.service\" for details.\n", 1, None, "Job for app.service failed"),
        ("access", "systemctl restart app", "Failed to restart app.service: Access denied\nSee system logs and 'systemctl status app.service' for details.\n", 4, "environment", "Access denied"),
        ("journal-exec", "journalctl -u app -n 5", "Nov 30 10:00:01 host systemd[1]: Starting app.service - App...\nNov 30 10:00:01 host systemd[812]: app.service: Failed to locate executable /opt/app/bin/run: No such file or directory\nNov 30 10:00:01 host systemd[812]: app.service: Failed at step EXEC spawning /opt/app/bin/run: No such file or directory\nNov 30 10:00:01 host systemd[1]: app.service: Main process exited, code=exited, status=203/EXEC\nNov 30 10:00:01 host systemd[1]: app.service: Failed with result 'exit-code'.\n", 1, "environment", "Failed to locate executable"),
        ("chdir", "journalctl -b -u app -n 2", "app.service: Changing to the requested working directory failed: No such file or directory\napp.service: Failed at step CHDIR spawning /usr/bin/app: No such file or directory\n", 1, "logic", "Changing to the requested working directory failed"),
        ("oom", "journalctl -b -u app -n 2", "app.service: A process of this unit has been killed by the OOM killer.\napp.service: Failed with result 'oom-kill'.\n", 1, "resource", "OOM killer"),
        ("no-systemd", "systemctl start cron", "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus: Host is down\n", 1, "environment", "System has not been booted with systemd"),
        ("verify", "systemd-analyze verify app.service", "/etc/systemd/system/app.service:7: Unknown key name 'ExecStrat' in section 'Service', ignoring.\napp.service: Service has no ExecStart=, ExecStop=, or SuccessAction=. Refusing.\n", 1, "logic", "Unknown key name 'ExecStrat'")]:
    said("systemd", name, line, text, code, cls, core, S, at="/etc/systemd/system/app.service:7" if name == "verify" else None)

NG = "nginx -t -p . -c nginx.conf"
NC = "error_log stderr;\npid nginx.pid;\nevents { }\nhttp {\n  access_log off;\n%s}\n"
for name, body, core, cls in [
        ("directive", "  server {\n    listen 8999;\n@@    serve_name a;\n  }\n", "unknown directive \"serve_name\"", "logic"),
        ("no-semicolon", "  server {\n    listen 8999\n@@    server_name a;\n  }\n", None, "logic"),
        ("not-allowed", "@@  listen 8999;\n", "directive is not allowed here", "logic"),
        ("upstream", "  server {\n    listen 8999;\n@@    location / { proxy_pass http://nosuchhost.invalid; }\n  }\n", "host not found in upstream", "transient"),
        ("include", "@@  include sites/*.conf\n", None, "logic"),
        ("missing-include", "@@  include conf/mime.types;\n", "conf/mime.types", "logic"),
        ("certificate", "  server {\n    listen 8999 ssl;\n    ssl_certificate cert.pem;\n    ssl_certificate_key key.pem;\n  }\n", "cert.pem", "logic"),
        ("arguments", "  server {\n@@    root;\n  }\n", "invalid number of arguments", "logic")]:
    one("nginx", name, NG, cls, core, tool="nginx", files={"nginx.conf": NC % body}, at="nginx.conf" if "@@" in body and name != "include" else "nginx.conf:7" if name == "include" else None)
one("nginx", "no-config", "nginx -t -p . -c nothing.conf", "logic", "nothing.conf", tool="nginx")
one("nginx", "brace", NG, "logic", "unexpected end of file", tool="nginx", files={"nginx.conf": "error_log stderr;\npid nginx.pid;\nevents { }\nhttp {\n@@"}, at="nginx.conf")

CA = "caddy validate --config Caddyfile --adapter caddyfile"
for name, text, core, at in [
        ("directive", ":8998 {\n@@\trespnd \"x\"\n}\n", "unrecognized directive: respnd", "Caddyfile"),
        ("brace", ":8998 {\n@@\trespond \"x\"\n", None, "Caddyfile"),
        ("argument", ":8998 {\n@@\troot\n}\n", None, "Caddyfile"),
        ("subdirective", ":8998 {\n\tfile_server {\n@@\t\tnosuch on\n\t}\n}\n", "nosuch", "Caddyfile"),
        ("import", "@@import snippets\n:8998\n", "snippets", "Caddyfile")]:
    one("caddy", name, CA, "logic", core, tool="caddy", files={"Caddyfile": text}, at=at)
one("caddy", "no-file", CA, "logic", "Caddyfile", tool="caddy")
one("caddy", "json", "caddy validate --config caddy.json", "logic", "invalid character", tool="caddy", files={"caddy.json": "{\"apps\": {]}\n"})

YL = "python3 -c 'import yaml,sys; yaml.safe_load(open(\"conf.yml\"))'"
one("data", "yaml-mapping", YL, "logic", "mapping values are not allowed here", tool="python3", files={"conf.yml": "a: 1\n@@b: c: d\n"}, at="conf.yml")
one("data", "yaml-tab", YL, "logic", "cannot start any token", tool="python3", files={"conf.yml": "a:\n@@\tb: 1\n"}, at="conf.yml")
one("data", "yaml-lint", "yamllint -f parsable conf.yml", "logic", "syntax error", tool="yamllint", files={"conf.yml": "---\na: 1\n@@b: c: d\n"}, at="conf.yml")
one("data", "json-tool", "python3 -m json.tool conf.json", "logic", "Expecting", tool="python3", files={"conf.json": "{\n  \"a\": 1,\n  \"b\": }\n"})
one("data", "toml", "python3 -c 'import tomllib; tomllib.load(open(\"conf.toml\",\"rb\"))'", "logic", "Invalid value", tool="python3", files={"conf.toml": "[a]\nx = 1\ny = \n"})
one("data", "xml", "xmllint --noout feed.xml", "logic", "Opening and ending tag mismatch", tool="xmllint", files={"feed.xml": "<feed>\n <item>\n@@ </entry>\n</feed>\n"}, at="feed.xml")
one("data", "xml-missing", "xmllint --noout nothing.xml", "logic", "nothing.xml", tool="xmllint")
one("data", "ini", "python3 -c 'import configparser; configparser.ConfigParser().read_file(open(\"a.ini\"))'", "logic", "contains parsing errors", tool="python3", files={"a.ini": "[a]\nx=1\nnot a pair\n"}, at=None)
one("data", "desktop-tool", "shellcheck --nosuch a.sh", "dependency", "nosuch", tool="shellcheck", files={"a.sh": "x\n"})
one("data", "visudo", "visudo -cf sudo.conf", "logic", "syntax error", tool="visudo", files={"sudo.conf": "Defaults env_reset\n@@root ALL=ALL) ALL\n"}, at="sudo.conf")
one("data", "sshd-config", "/usr/sbin/sshd -t -f sshd.conf", "logic", "Bad configuration option", tool="/usr/sbin/sshd", files={"sshd.conf": "Port 22\n@@NoSuchThing yes\n"}, at="sshd.conf")
one("data", "php-ini-lint", "php -l page.php", "logic", "syntax error", tool="php", files={"page.php": "<?php\n$a = 1;\n@@if ($a { echo 1; }\n"}, at="page.php")
one("data", "bash-n", "bash -n job.sh", "logic", "syntax error", tool="bash", files={"job.sh": "echo a\nfor x in 1 2\n@@  echo $x\ndone\n"}, at="job.sh")
one("data", "perl-c", "perl -c job.pl", "logic", "syntax error", tool="perl", files={"job.pl": "my $x = 1;\nmy $y = = 2;\n"}, at="job.pl:2")
one("data", "node-check", "node --check app.js", "logic", "SyntaxError", tool="node", files={"app.js": "const a = 1;\n@@const b = ;\n"}, at="app.js")

# Behind ssh, docker exec and kubectl exec: these run the command here under the name of the other, since the words that
# come back are the same.
FAKE = "#!/bin/bash\nwhile [ $# -gt 0 ]; do case $1 in -*) shift;; *) break;; esac; done\nshift\nexec bash -c \"$*\"\n"
FAKED = "#!/bin/bash\nwhile [ \"$1\" != exec ]; do shift; done; shift\nwhile [ $# -gt 0 ]; do case $1 in -*) shift;; *) break;; esac; done\nshift\n[ \"$1\" = -- ] && shift\nexec \"$@\"\n"
P = {"PATH": "{JOB}/bin/:/usr/bin:/bin"}
for name, line, host, cls, core in [
        ("ssh-file", "ssh web1 cat /srv/app/nothing.conf", "web1", "logic", "/srv/app/nothing.conf"),
        ("ssh-command", "ssh -q backup@store2 nosuchdump --all", "backup@store2", "environment", "nosuchdump"),
        ("ssh-full", "ssh web3 'echo x > /dev/full'", "web3", "resource", "No space left"),
        ("ssh-script", "ssh web4 'cd /srv/releases9 && ls'", "web4", "logic", "/srv/releases9")]:
    sh("remote", name, line, cls, core, "ssh", {"bin/ssh": FAKE}, env=P, remote=host)
for name, line, host, cls, core in [
        ("docker-file", "docker exec app1 cat /srv/nothing.conf", "app1", "logic", "/srv/nothing.conf"),
        ("docker-python", "docker exec -i app2 python3 -c 'import nosuchdriver'", "app2", "environment", "nosuchdriver")]:
    sh("remote", name, line, cls, core, "docker", {"bin/docker": FAKED}, env=P, remote=host)
sh("remote", "kubectl-file", "kubectl exec web-0 -- ls /data/nothing", "logic", "/data/nothing", "kubectl", {"bin/kubectl": FAKED}, env=P, remote="web-0")
one("remote", "ssh-alone", "ssh web5 cat /srv/x/nothing", "logic", "/srv/x/nothing", tool="ssh", files={"bin/ssh": FAKE}, env=P, remote="web5")
one("remote", "ssh-trace", "ssh web6 python3 job.py", "logic", "ZeroDivisionError", tool="ssh", files={"bin/ssh": FAKE, "job.py": "x = 0\n@@print(1 / x)\n"}, env=P, at="job.py", remote="web6")

# Other languages.
for lang, nofile, notfound, perm in [("de_DE", "Datei oder Verzeichnis nicht gefunden", "nicht gefunden", "Keine Berechtigung"),
                                     ("zh_CN", "没有那个文件或目录", "未找到命令", "权限不够"),
                                     ("fr_FR", "Aucun fichier ou dossier de ce", "commande introuvable", "Permission non accordée"),
                                     ("es_ES", "No existe el fichero o el directorio", "orden no encontrada", "Permiso denegado"),
                                     ("ja_JP", "そのようなファイルやディレクトリはありません", "見つかりません", "許可がありません")]:
    short = lang.split("_")[0]
    env = {"LC_ALL": lang + ".UTF-8", "LANGUAGE": ""}
    sh("localised", f"{short}-cp", "cp eingang/a.csv /tmp/", "logic", nofile, "cp", env=env)
    sh("localised", f"{short}-cd", "cd /srv/keinort", "logic", nofile, "bash", env=env)
    sh("localised", f"{short}-command", "nosuchkommando -x", "environment", notfound, "bash", env=env)
    sh("localised", f"{short}-permission", "cat /etc/shadow", "environment", perm, "cat", env=env, user=True)
    sh("localised", f"{short}-unset", "set -u; echo $NICHTDA", "logic", "NICHTDA", "bash", env=env)
    sh("localised", f"{short}-syntax", "if then", "logic", None, "bash", env=env)
    sh("localised", f"{short}-option", "ls --nosuch", "dependency", "nosuch", "ls", env=env)
    sh("localised", f"{short}-full", "echo x > /dev/full", "resource", None, "bash", env=env)
for lang in ("de_DE", "zh_CN"):
    short = lang.split("_")[0]
    env = {"LC_ALL": lang + ".UTF-8", "LANGUAGE": ""}
    one("localised", f"{short}-grep", "grep x nothing.txt", "logic", "nothing.txt", env=env)
    one("localised", f"{short}-sed", "sed 's/a' in", "logic", None, env=env, files={"in": "x\n"})
    one("localised", f"{short}-tar", "tar -cf a.tar nothing", "logic", "nothing", env=env)
    one("localised", f"{short}-git", "git clone ./nosuch.git copy", "dependency", "nosuch.git", env=env)
    one("localised", f"{short}-wget", "wget -nv http://127.0.0.1:9/a", "transient", None, env=env)
    one("localised", f"{short}-make", "make nothing", "dependency", "nothing", env=env)
    one("localised", f"{short}-mkdir", "mkdir a/b", "logic", "a/b", env=env)
    one("localised", f"{short}-perl", "perl -e 'use locale; use POSIX; setlocale(LC_ALL, \"\"); open(F, \"<\", \"nothing\") or die \"nothing: $!\\n\"'", "logic", "nothing", env=env)

PS = "documented formats of PowerShell 5.1 and 7 (about_Error, Write-Error, ConciseView); not run here"
for name, text, cls, core, line in [
        ("item", "Get-Content: C:\\jobs\\load.ps1:4\nLine |\n   4 |  $rows = Get-Content C:\\data\\in.csv\n     |          ~~~~~~~~~~~~~~~~~~~~~~~~~~\n     | Cannot find path 'C:\\data\\in.csv' because it does not exist.\n", "logic", "Cannot find path 'C:\\data\\in.csv'", 4),
        ("command", "Send-Report: C:\\jobs\\load.ps1:9\nLine |\n   9 |  Send-Report -Day 3\n     |  ~~~~~~~~~~~\n     | The term 'Send-Report' is not recognized as a name of a cmdlet, function, script file, or executable program.\nCheck the spelling of the name, or if a path was included, verify that the path is correct and try again.\n", "environment", "The term 'Send-Report' is not recognized", 9),
        ("classic-item", "Get-Item : Cannot find path 'C:\\data\\in.csv' because it does not exist.\nAt C:\\jobs\\load.ps1:6 char:9\n+ $item = Get-Item 'C:\\data\\in.csv'\n+         ~~~~~~~~~~~~~~~~~~~~~~~~~\n    + CategoryInfo          : ObjectNotFound: (C:\\data\\in.csv:String) [Get-Item], ItemNotFoundException\n    + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetItemCommand\n", "logic", "Cannot find path 'C:\\data\\in.csv'", 6),
        ("classic-command", "backup-db : The term 'backup-db' is not recognized as the name of a cmdlet, function, script file, or operable program. Check the spelling of the name, or if a path was included, verify that the path is correct and try again.\nAt C:\\jobs\\load.ps1:3 char:1\n+ backup-db -Full\n+ ~~~~~~~~~\n    + CategoryInfo          : ObjectNotFound: (backup-db:String) [], CommandNotFoundException\n    + FullyQualifiedErrorId : CommandNotFoundException\n", "environment", "The term 'backup-db' is not recognized", 3),
        ("access", "Remove-Item : Access to the path 'C:\\Windows\\x.log' is denied.\nAt C:\\jobs\\load.ps1:12 char:1\n+ Remove-Item C:\\Windows\\x.log\n+ ~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n    + CategoryInfo          : PermissionDenied: (x.log:FileInfo) [Remove-Item], UnauthorizedAccessException\n", "environment", "Access to the path 'C:\\Windows\\x.log' is denied", 12),
        ("parser", "At C:\\jobs\\load.ps1:7 char:12\n+ if ($a -eq 1 {\n+            ~\nMissing closing ')' after expression in 'if' statement.\n    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException\n    + FullyQualifiedErrorId : MissingEndParenthesisAfterStatement\n", "logic", "Missing closing ')'", 7),
        ("null", "InvalidOperation: C:\\jobs\\load.ps1:5\nLine |\n   5 |  $client.Send($row)\n     |  ~~~~~~~~~~~~~~~~~~\n     | You cannot call a method on a null-valued expression.\n", "logic", "You cannot call a method on a null-valued expression", 5),
        ("web", "Invoke-RestMethod: C:\\jobs\\load.ps1:8\nLine |\n   8 |  Invoke-RestMethod https://api.example.invalid/v1\n     |  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n     | No such host is known. (api.example.invalid:443)\n", "transient", "No such host is known", 8),
        ("module", "Import-Module: C:\\jobs\\load.ps1:2\nLine |\n   2 |  Import-Module SqlServer\n     |  ~~~~~~~~~~~~~~~~~~~~~~~\n     | The specified module 'SqlServer' was not loaded because no valid module file was found in any module directory.\n", "environment", "The specified module 'SqlServer' was not loaded", 2),
        ("parameter", "Get-ChildItem: C:\\jobs\\load.ps1:3\nLine |\n   3 |  Get-ChildItem -Recursive\n     |                ~~~~~~~~~~\n     | A parameter cannot be found that matches parameter name 'Recursive'.\n", "dependency", "A parameter cannot be found that matches parameter name 'Recursive'", 3),
        ("throw", "Exception: C:\\jobs\\load.ps1:11\nLine |\n  11 |    throw \"the ledger of May is not closed\"\n     |    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n     | the ledger of May is not closed\n", None, "the ledger of May is not closed", 11),
        ("policy", "File C:\\jobs\\load.ps1 cannot be loaded because running scripts is disabled on this system. For more information, see about_Execution_Policies at https:/go.microsoft.com/fwlink/?LinkID=135170.\n    + CategoryInfo          : SecurityError: (:) [], PSSecurityException\n    + FullyQualifiedErrorId : UnauthorizedAccess\n", "environment", "running scripts is disabled", None)]:
    said("powershell", name, "pwsh -File C:\\jobs\\load.ps1", text, 1, cls, core, PS, at=f"C:\\jobs\\load.ps1:{line}" if line else None)
