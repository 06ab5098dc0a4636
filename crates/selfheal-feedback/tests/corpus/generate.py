#!/usr/bin/env python3
"""Runs the programs of the corpus on this machine and writes what they print: one file a case, FAMILY/NAME.toml.

    generate.py [WORD …]    the cases whose family is WORD or whose name begins with it, all without one; a case whose
                            program is missing here is left as it is

A case is a command that really fails, run in an empty folder that holds its files, both streams together, as
`COMMAND 2>&1`. What is expected of it stands in `cases/*.py`, written before anything reads it: `@@` in a file marks the
line that the report must name. The name of the folder is written as {JOB} in the output.
"""
import hashlib, importlib.util, json, os, pathlib, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).parent
CASES = []


def case(family, name, command, files=None, cls=None, at=None, core=None, outcome="failed", column=None,
         remote=None, env=None, setup=None, tool=None, user=False, documented=None, exit_code=None):
    """One case. `at` is the file whose marked line is meant, or FILE:LINE, or None for no place on this machine."""
    CASES.append(dict(family=family, name=name, command=command, files=files or {}, cls=cls, at=at, core=core,
                      outcome=outcome, column=column, remote=remote, env=env or {}, setup=setup, user=user,
                      tool=tool or command.split()[0], documented=documented, exit_code=exit_code))


def marked(text):
    """The text without its mark, and the line that the mark stands in."""
    for number, line in enumerate(text.split("\n"), 1):
        if "@@" in line:
            return text.replace("@@", ""), number
    return text, None


VERSIONS = {}
ASK = {"go": ["go", "version"], "java": ["java", "--version"], "ssh": ["ssh", "-V"], "nginx": ["nginx", "-v"],
       "lua5.4": ["lua5.4", "-v"], "mawk": ["mawk", "-W", "version"], "openssl": ["openssl", "version"],
       "kubectl": ["kubectl", "version", "--client"], "unzip": ["unzip", "-v"], "php": ["php", "-v"],
       "dash": ["dpkg-query", "-W", "dash"], "busybox": ["dpkg-query", "-W", "busybox"],
       "mksh": ["dpkg-query", "-W", "mksh"], "ksh": ["dpkg-query", "-W", "ksh93u+m"], "caddy": ["caddy", "version"],
       "sh": ["dpkg-query", "-W", "dash"], "awk": ["dpkg-query", "-W", "mawk"], "perl": ["perl", "-e", "print $^V"]}


def version(tool):
    if tool not in VERSIONS:
        done = subprocess.run(ASK.get(tool, [tool, "--version"]), capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        lines = (done.stdout + done.stderr).strip().split("\n")
        VERSIONS[tool] = lines[0].strip().replace("\t", " ")[:80]
    return VERSIONS[tool]


def run(one):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="job-", dir="/tmp")).resolve()
    try:
        for name, text in one["files"].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.write_bytes(text if isinstance(text, bytes) else marked(text)[0].encode())
            if isinstance(text, str) and text.startswith("#!") or "/bin/" in str(path):
                path.chmod(0o755)
        env = {"PATH": os.environ["PATH"], "HOME": str(folder / ".home"), "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        for name in ("GOCACHE", "GOPATH", "GOFLAGS"):
            if name in os.environ:
                env[name] = os.environ[name]
        (folder / ".home").mkdir()
        env.update({k: v.replace("{JOB}", str(folder)) for k, v in one["env"].items()})
        if one["setup"]:
            subprocess.run(["bash", "-ec", one["setup"]], cwd=folder, env=env, check=True, capture_output=True)
        argv = ["bash", "-c", one["command"] + "\n"]
        if one["user"]:
            subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
            argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + argv
        done = subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120)
        output = done.stdout.decode("utf-8", "replace").replace(str(folder), "{JOB}")
        code = done.returncode
        return output, (128 - code if code < 0 else code)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def text(value):
    if "'''" in value or any(ord(c) < 32 and c not in "\n\t" for c in value) or "\x7f" in value:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return "'''\n" + value + "'''" if "\n" in value else json.dumps(value, ensure_ascii=False)


def write(one, output, code):
    expect = [f'outcome = "{one["outcome"]}"']
    if one["cls"]:
        expect.append(f'class = "{one["cls"]}"')
    if one["at"]:
        file, _, line = one["at"].rpartition(":") if one["at"][-1].isdigit() and ":" in one["at"] else (one["at"], "", "")
        line = line or marked(one["files"][file])[1]
        assert line, f"{one['name']}: no marked line in {file}"
        expect += [f"file = {json.dumps(file)}", f"line = {line}"]
    if one["column"]:
        expect.append(f'column = {one["column"]}')
    if one["remote"]:
        expect.append(f'remote = {json.dumps(one["remote"])}')
    if one["core"]:
        expect.append(f'core_error = {json.dumps(one["core"], ensure_ascii=False)}')
        shown = output.replace("{JOB}", "")
        assert one["core"] in output or one["core"] in shown, f"{one['family']}/{one['name']}: {one['core']!r} is not in\n{output}"
    lines = [f'command = {json.dumps(one["command"], ensure_ascii=False)}', f"exit_code = {code}"]
    source = one["documented"] or version(one["tool"])
    lines.append(f'{"documented" if one["documented"] else "version"} = {json.dumps(source, ensure_ascii=False)}')
    lines += [f"output = {text(output)}", "", "[expect]", *expect]
    files = {n: t for n, t in one["files"].items() if not isinstance(t, bytes) and not n.endswith("/")}
    folders = [n for n in one["files"] if n.endswith("/")]
    if folders:
        lines.insert(2, f"folders = {json.dumps(folders)}")
    if files:
        lines += ["", "[files]"] + [f"{json.dumps(n)} = {text(marked(t)[0])}" for n, t in files.items()]
    path = HERE / one["family"] / f'{one["name"]}.toml'
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def main():
    for module in sorted((HERE / "cases").glob("*.py")):
        spec = importlib.util.spec_from_file_location(module.stem, module)
        found = importlib.util.module_from_spec(spec)
        found.case = case
        spec.loader.exec_module(found)
    wanted = sys.argv[1:]
    seen = set()
    for one in CASES:
        key = (one["family"], one["name"])
        assert key not in seen, key
        seen.add(key)
        if wanted and not any(word == one["family"] or one["name"].startswith(word) for word in wanted):
            continue
        try:
            if one["documented"]:
                output, code = one["setup"], one["exit_code"]
            elif shutil.which(one["tool"]) is None:
                print("left as it is:", *key, "needs", one["tool"])
                continue
            else:
                output, code = run(one)
            if (code == 0) != (one["outcome"] == "succeeded"):
                print("UNEXPECTED CODE", *key, code, output[-300:])
                continue
            write(one, output, code)
        except (AssertionError, subprocess.SubprocessError) as error:
            print("NOT WRITTEN", *key, str(error)[:1500])


if __name__ == "__main__":
    main()
