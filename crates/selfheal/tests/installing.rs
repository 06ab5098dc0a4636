//! Packages that the project declares and that are not there: named to a person, or fetched into a box, proved and put in
//! where the settings let it, and never guessed. With the pip and npm of this machine, and packages that the tests make.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use selfheal_testkit::TestEnv;

use crate::support::{document, env, has_box, only_incident};

/// Makes a wheel, `NAME VERSION FILE=TEXT …`, in the folder where it runs; a requirement of another begins with `+`.
const WHEEL: &str = r#"
import base64, hashlib, sys, zipfile
name, version, *parts = sys.argv[1:]
info = f"{name}-{version}.dist-info"
needs = "".join(f"Requires-Dist: {part[1:]}\n" for part in parts if part.startswith("+"))
files = dict(part.split("=", 1) for part in parts if not part.startswith("+"))
files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
record = ""
with zipfile.ZipFile(f"{name}-{version}-py3-none-any.whl", "w") as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text)}\n"
    wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
"#;

/// What a run of the program said.
#[derive(Debug)]
struct Told {
    code: i32,
    stderr: String,
}

/// A job that needs the module `rowtools`.
const JOB: &str =
    "import rowtools\n\nwith open(\"out.txt\", \"w\") as out:\n    out.write(rowtools.NAME + \"\\n\")\n";

#[expect(clippy::print_stderr, reason = "whoever reads the tests' output must see that one was not made")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A job beside a virtual environment of its own, and a folder of wheels that pip takes them from. `None`, with a line
/// about it, where this machine has no pip or no box.
fn python_job(install: &str) -> Option<TestEnv> {
    let env = env();
    let venv = env.work().join(".venv");
    let made = succeeds(
        Command::new("python3")
            .args(["-m", "venv", "--without-pip", "--system-site-packages"])
            .arg(&venv)
            .current_dir(env.work()),
    );
    let pip = made && succeeds(Command::new(venv.join("bin/python")).args(["-I", "-m", "pip", "--version"]));
    if !pip || !has_box(&env) {
        skipped("this machine has no python3 with venv and pip, or no box");
        return None;
    }
    fs::create_dir(env.root().join("wheels")).unwrap();
    env.write("job.py", JOB);
    settings(&env, install);
    Some(env)
}

fn settings(env: &TestEnv, install: &str) {
    let folder = env.home().join(".config/selfheal");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("selfheal.toml"), format!("[repair]\ninstall = \"{install}\"\n")).unwrap();
}

fn wheel(env: &TestEnv, parts: &[&str]) {
    let mut command = Command::new("python3");
    assert!(succeeds(command.arg("-c").arg(WHEEL).args(parts).current_dir(env.root().join("wheels"))));
}

fn rowtools(env: &TestEnv) {
    wheel(env, &["rowtools", "1.2.0", "rowtools/__init__.py=from rowbase import NAME\n", "+rowbase"]);
    wheel(env, &["rowtools", "1.3.0", "rowtools/__init__.py=raise SystemExit(3)\n"]);
    wheel(env, &["rowbase", "0.1", "rowbase.py=NAME = 'rows'\n"]);
}

/// Runs the job with everything that the machine's own settings of pip say set aside.
fn heal(env: &TestEnv, apply: &str) -> Told {
    let mut command = env.command(&["run", "--apply", apply, "--", ".venv/bin/python", "job.py"]);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PIP_")) {
        command.env_remove(name);
    }
    command.env("PIP_CONFIG_FILE", "/dev/null").env("PIP_NO_INDEX", "1");
    command.env("PIP_FIND_LINKS", env.root().join("wheels"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    Told {
        code: output.status.code().unwrap_or(-1),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Files and folders with permission bits and content.
type Tree = BTreeMap<String, (u32, Vec<u8>)>;

/// Everything below a folder.
fn tree(folder: &Path) -> Tree {
    let mut out = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let facts = entry.path().symlink_metadata().unwrap();
            let content = if facts.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            out.insert(entry.path().display().to_string(), (facts.permissions().mode(), content));
            if facts.is_dir() {
                open.push(entry.path());
            }
        }
    }
    out
}

fn show(env: &TestEnv) -> String {
    env.run(&["show", &only_incident(env)]).stdout
}

#[test]
fn a_declared_package_is_brought_in_its_version_and_taken_back_to_the_byte() {
    let Some(env) = python_job("apply") else { return };
    rowtools(&env);
    env.write("requirements.txt", "# what the report needs\nrowtools==1.2.0\n");
    let before = tree(&env.work());
    let healed = heal(&env, "medium");
    assert_eq!(healed.code, 0, "{healed:?}");
    assert_eq!(fs::read_to_string(env.work().join("out.txt")).unwrap(), "rows\n");
    let shown = show(&env);
    for part in ["rowtools 1.2.0 (sha256:", "rowbase 0.1 (sha256:", "risk medium", "packages/third-party"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let site = tree(&env.work()).into_keys().filter(|path| path.contains("rowtools-1.2.0.dist-info")).count();
    assert!(site > 3, "{site}");
    let id = only_incident(&env);
    let undone = env.run(&["undo", &id]);
    assert_eq!(undone.code, 0, "{undone:?}");
    fs::remove_file(env.work().join("out.txt")).unwrap();
    assert_eq!(tree(&env.work()), before);
    assert_eq!(env.run(&["redo", &id]).code, 0);
    assert_eq!(heal(&env, "medium").code, 0);
    assert_eq!(env.run(&["undo", &id]).code, 0);
    fs::remove_file(env.work().join("out.txt")).unwrap();
    assert_eq!(tree(&env.work()), before);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}

#[test]
fn by_default_nothing_is_fetched_and_the_command_is_told() {
    let Some(env) = python_job("never") else { return };
    rowtools(&env);
    env.write("requirements.txt", "rowtools==1.2.0\n");
    // The folder of the job has no say in it.
    env.write("selfheal.toml", "[repair]\ninstall = \"apply\"\n");
    let before = tree(&env.work());
    let told = heal(&env, "medium");
    assert_ne!(told.code, 0);
    let python = env.work().join(".venv/bin/python").display().to_string();
    let command = format!("{python} -m pip install --only-binary :all: rowtools==1.2.0");
    assert!(told.stderr.contains(&format!("hint     {command}")), "{told:?}");
    assert!(told.stderr.contains("requirements.txt:1 declares rowtools==1.2.0"), "{told:?}");
    assert!(show(&env).contains(&command));
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn asked_for_it_waits_for_a_person_also_where_the_risk_would_do() {
    let Some(env) = python_job("ask") else { return };
    rowtools(&env);
    env.write("requirements.txt", "rowtools==1.2.0\n");
    let before = tree(&env.work());
    let (_, held) = (heal(&env, "medium"), show(&env));
    assert!(held.contains("installs") && held.contains("held"), "{held}");
    assert_eq!(tree(&env.work()), before);
    let id = only_incident(&env);
    assert_eq!(env.run(&["approve", &id]).code, 0);
    assert_eq!(heal(&env, "medium").code, 0);
}

#[test]
fn it_is_of_medium_risk_so_that_low_leaves_it_ready() {
    let Some(env) = python_job("apply") else { return };
    rowtools(&env);
    env.write("pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"rowtools<1.3\"]\n");
    let before = tree(&env.work());
    let told = heal(&env, "low");
    assert!(told.stderr.contains("selfheal approve"), "{told:?}");
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn what_the_project_does_not_declare_is_never_brought() {
    let Some(env) = python_job("apply") else { return };
    rowtools(&env);
    env.write("requirements.txt", "rowbase\n");
    let before = tree(&env.work());
    let told = heal(&env, "medium");
    assert_ne!(told.code, 0);
    assert!(!told.stderr.contains("pip install"), "{told:?}");
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn what_cannot_be_had_is_handed_over_in_pips_own_words() {
    let Some(env) = python_job("apply") else { return };
    wheel(&env, &["rowtools", "1.3.0", "rowtools.py=NAME = 'x'\n"]);
    env.write("requirements.txt", "rowtools==1.2.0\n");
    let before = tree(&env.work());
    let told = heal(&env, "medium");
    assert!(told.stderr.contains("pip did not bring rowtools==1.2.0"), "{told:?}");
    assert!(told.stderr.contains("Could not find a version"), "{told:?}");
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn a_package_that_would_have_to_be_built_is_handed_over_and_nothing_of_it_runs() {
    let Some(env) = python_job("apply") else { return };
    let source = env.root().join("wheels/rowtools-1.2.0");
    fs::create_dir(&source).unwrap();
    let mark = env.work().join("ran");
    fs::write(source.join("setup.py"), format!("open({:?}, 'w')\n", mark.display().to_string())).unwrap();
    let packed = Command::new("tar")
        .args(["-czf", "rowtools-1.2.0.tar.gz", "rowtools-1.2.0"])
        .current_dir(env.root().join("wheels"))
        .status();
    assert!(packed.unwrap().success());
    env.write("requirements.txt", "rowtools==1.2.0\n");
    let before = tree(&env.work());
    let told = heal(&env, "medium");
    assert!(told.stderr.contains("pip did not bring"), "{told:?}");
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn a_package_that_hides_a_module_of_the_job_or_runs_by_itself_is_held() {
    for (file, finding) in
        [("helpers/__init__.py", "packages/shadows"), ("start.pth", "packages/runs-by-itself")]
    {
        let Some(env) = python_job("apply") else { return };
        let part = format!("{file}=\n");
        wheel(&env, &["rowtools", "1.2.0", "rowtools.py=NAME = 'x'\n", &part]);
        env.write("requirements.txt", "rowtools\n");
        env.write("lib/helpers.py", "x = 1\n");
        let before = tree(&env.work());
        heal(&env, "medium");
        let shown = show(&env);
        assert!(shown.contains(finding) && shown.contains("held"), "{shown}");
        assert_eq!(tree(&env.work()), before);
    }
}

#[test]
fn what_would_replace_a_file_is_held() {
    let Some(env) = python_job("apply") else { return };
    wheel(&env, &["rowbase", "0.1", "rowbase.py=NAME = 'old'\n"]);
    rowtools(&env);
    wheel(&env, &["rowbase", "0.2", "rowbase.py=NAME = 'new'\n"]);
    wheel(&env, &["rowtools", "1.2.0", "rowtools.py=from rowbase import NAME\n", "+rowbase>=0.2"]);
    let mut pip = Command::new(env.work().join(".venv/bin/python"));
    pip.args(["-I", "-m", "pip", "install", "--no-index", "--no-compile", "rowbase==0.1", "--find-links"]);
    assert!(succeeds(pip.arg(env.root().join("wheels"))));
    env.write("requirements.txt", "rowtools==1.2.0\n");
    let before = tree(&env.work());
    heal(&env, "medium");
    let shown = show(&env);
    assert!(shown.contains("packages/replaces") && shown.contains("held"), "{shown}");
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn two_missing_packages_become_one_repair() {
    let Some(env) = python_job("apply") else { return };
    wheel(&env, &["rowtools", "1.2.0", "rowtools.py=NAME = 'x'\n"]);
    wheel(&env, &["coltools", "2.0", "coltools.py=\n"]);
    env.write("requirements.txt", "rowtools\ncoltools\n");
    env.write("job.py", format!("import coltools\n{JOB}"));
    let before = tree(&env.work());
    let healed = heal(&env, "medium");
    assert_eq!(healed.code, 0, "{healed:?}");
    let shown = show(&env);
    assert!(shown.contains("coltools 2.0") && shown.contains("rowtools 1.2.0"), "{shown}");
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    fs::remove_file(env.work().join("out.txt")).unwrap();
    assert_eq!(tree(&env.work()), before);
}

/// A job of Node that needs a package which lies as an archive beside it.
fn node_job(install: &str) -> Option<TestEnv> {
    let env = env();
    let there = ["node", "npm"].iter().all(|name| succeeds(Command::new(name).arg("--version")));
    if !there || !has_box(&env) {
        skipped("this machine has no node with npm, or no box");
        return None;
    }
    env.write(
        "package/package.json",
        "{\"name\": \"rowtools\", \"version\": \"1.2.0\", \"scripts\": {\"install\": \"touch ran\"}}\n",
    );
    env.write("package/index.js", "exports.NAME = 'rows';\n");
    let packed =
        Command::new("tar").args(["-czf", "rowtools.tgz", "package"]).current_dir(env.work()).status();
    assert!(packed.unwrap().success());
    fs::remove_dir_all(env.work().join("package")).unwrap();
    env.write(
        "job.js",
        "const rows = require('rowtools');\nrequire('fs').writeFileSync('out.txt', rows.NAME + '\\n');\n",
    );
    env.write("package.json", "{\"dependencies\": {\"rowtools\": \"file:rowtools.tgz\"}}\n");
    settings(&env, install);
    Some(env)
}

#[test]
fn a_declared_package_of_node_is_brought_and_taken_back() {
    let Some(env) = node_job("apply") else { return };
    let before = tree(&env.work());
    let healed = env.run(&["run", "--apply", "medium", "--", "node", "job.js"]);
    assert_eq!(healed.code, 0, "{healed:?}");
    assert_eq!(fs::read_to_string(env.work().join("out.txt")).unwrap(), "rows\n");
    assert!(!env.work().join("node_modules/rowtools/ran").exists(), "a script of the package ran");
    let shown = show(&env);
    assert!(shown.contains("rowtools 1.2.0 (sha512-"), "{shown}");
    assert_eq!(env.run(&["undo", &only_incident(&env)]).code, 0);
    fs::remove_file(env.work().join("out.txt")).unwrap();
    assert_eq!(tree(&env.work()), before);
}

#[test]
fn of_node_too_nothing_is_fetched_by_default_and_nothing_from_elsewhere_ever() {
    let Some(env) = node_job("never") else { return };
    let before = tree(&env.work());
    let (told, document) = document(&env, &["--apply", "medium", "--", "node", "job.js"]);
    assert!(told.stderr.contains("npm install --ignore-scripts"), "{told:?}");
    assert_ne!(document["status"], "healed");
    assert_eq!(tree(&env.work()), before);
    settings(&env, "apply");
    env.write("package.json", "{\"dependencies\": {\"rowtools\": \"github:someone/rowtools\"}}\n");
    let before = tree(&env.work());
    let told = env.run(&["run", "--apply", "medium", "--", "node", "job.js"]);
    assert!(told.stderr.contains("elsewhere than the registry"), "{told:?}");
    assert_eq!(tree(&env.work()), before);
}

/// Failpoints between two kills of the same command.
const STRIDE: usize = 9;

/// Runs a command again and again, killed later each time, until it comes to its end. After each kill the next start must
/// leave either all of it or nothing. What there is at the end.
fn killed_until_done(env: &TestEnv, args: &[&str], before: &Tree) -> Tree {
    let mut others = Vec::new();
    for number in (1..).step_by(STRIDE) {
        let mut command = env.command(args);
        command.env("SELFHEAL_FAILPOINT", number.to_string());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(env.run(&["tick"]).code, 0);
        let now = tree(&env.work());
        if status.signal() != Some(9) {
            assert!(number > STRIDE, "{args:?} was never killed");
            assert!(others.iter().all(|other| *other == now), "{args:?} was left half done");
            return now;
        }
        if now != *before {
            others.push(now);
        }
    }
    unreachable!()
}

#[test]
fn a_kill_while_packages_come_or_go_leaves_all_of_them_or_none() {
    let Some(env) = python_job("ask") else { return };
    rowtools(&env);
    env.write("requirements.txt", "rowtools==1.2.0\n");
    let before = tree(&env.work());
    heal(&env, "medium");
    let id = only_incident(&env);
    let after = killed_until_done(&env, &["approve", &id], &before);
    assert_ne!(after, before);
    assert_eq!(killed_until_done(&env, &["undo", &id], &after), before);
    assert_eq!(env.run(&["audit", "verify"]).code, 0);
}
