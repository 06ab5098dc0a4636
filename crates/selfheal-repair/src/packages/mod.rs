//! Missing packages: what would bring the module that a job lacks, as far as its project declares it.
//!
//! Nothing is installed here. [`wanted`] says what the declared package is, where it would go and with which command; the
//! program asks its settings, runs the installer in a box, and makes the files that it added the changes of a repair.
//! A module's name is never taken for the name of a package: who registers the names that others mistype has his code
//! run. Only what the project declares is installed, and only what a table knows is named to a person besides.

mod declared;
mod names;
mod node;
mod requirement;
mod venv;

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::proposal::Risk;

use crate::case::{Case, Language};
use declared::Declared;
use venv::Environment;

/// Settings of pip's that would send files elsewhere or build something here.
const TAKEN: [&str; 7] =
    ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_NO_BINARY", "PIP_DRY_RUN", "PIP_REQUIREMENT"];

/// What pip is told besides: nothing of a package runs, and nothing is kept elsewhere.
const QUIET: [&str; 6] =
    ["--no-input", "--disable-pip-version-check", "--no-compile", "--no-cache-dir", "--only-binary", ":all:"];

/// What would bring a module that a job lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The module, as the failure names it.
    pub module: String,
    /// The package, as the installer is told: `PyYAML==6.0.1`.
    pub what: String,
    /// Where the project declares it; `None` where only a table knows it.
    pub declared: Option<Place>,
    /// How it would be installed, or why only a person can.
    pub plan: Result<Plan, String>,
    /// The command for a person.
    pub by_hand: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
}

/// How a package is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// `pip` or `npm`.
    pub tool: &'static str,
    /// The command as it is run.
    pub argv: Vec<String>,
    /// The command as a person would type it.
    pub shown: String,
    /// The folder that it runs in.
    pub cwd: PathBuf,
    /// The folder that everything must lie below: a virtual environment, or a `node_modules`.
    pub place: PathBuf,
    /// Variables that are set, or removed, for it.
    pub env: Vec<(String, Option<String>)>,
    /// The least risk that the repair has.
    pub risk: Risk,
}

/// What would bring the module that a job lacks; nothing where neither the project nor a table knows it.
#[must_use]
pub fn wanted(case: &Case<'_>) -> Option<Wanted> {
    let module = case.faults().find_map(|fault| match fault {
        Fault::MissingModule { name } => Some(name.as_str()),
        _ => None,
    })?;
    let file = case.failing_file()?;
    match file.language {
        Language::Python => of_python(case, module, &file.path),
        Language::Node => node::wanted(case, module, &file.path),
        _ => None,
    }
}

fn of_python(case: &Case<'_>, module: &str, file: &Path) -> Option<Wanted> {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if module.is_empty() || !module.chars().all(plain) {
        return None;
    }
    let folders = folders(case, file);
    let declared = declared::find(case.scene, &folders, &names::likely(module));
    let environment = venv::of(case, &folders);
    let what = match (&declared, names::known(module).first()) {
        (Some(declared), _) => declared.requirement.text.clone(),
        (None, Some(name)) => (*name).to_owned(),
        (None, None) => return None,
    };
    let list = declared
        .as_ref()
        .filter(|declared| declared.terms.whole)
        .map(|declared| declared.file.display().to_string());
    let which = match &list {
        Some(list) => vec!["-r", list.as_str()],
        None => vec![what.as_str()],
    };
    let by_hand = by_hand(case, &folders, environment.as_ref(), &which);
    let plan = match &declared {
        None => Err("no file beside the script declares it".to_owned()),
        Some(declared) => plan(case, declared, environment, &which),
    };
    let declared = declared.map(|declared| Place { file: declared.file, line: declared.line });
    Some(Wanted { module: module.to_owned(), what, declared, plan, by_hand })
}

/// The folders whose project files count: that of the program, the script's, the job's, and the one above the program.
fn folders(case: &Case<'_>, file: &Path) -> Vec<PathBuf> {
    let own = file.parent().map(Path::to_path_buf);
    let above = own.as_deref().and_then(Path::parent).filter(|above| above.components().count() > 2);
    let mut out: Vec<PathBuf> = Vec::new();
    let all = [own.clone(), case.home(), Some(case.job.cwd.clone()), above.map(Path::to_path_buf)];
    for folder in all.into_iter().flatten() {
        if !out.contains(&folder) {
            out.push(folder);
        }
    }
    out
}

fn plan(
    case: &Case<'_>,
    declared: &Declared,
    environment: Option<Environment>,
    which: &[&str],
) -> Result<Plan, String> {
    if declared.requirement.direct {
        return Err("it does not come from an index".to_owned());
    }
    if declared.terms.builds {
        let name = declared.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(format!("{name} asks pip for more than selfheal lets it do"));
    }
    let Some(environment) = environment else {
        return Err("the job's Python belongs to no virtual environment".to_owned());
    };
    if case.scene.facts(&environment.root.join("conda-meta")).is_some() {
        return Err("the job's Python belongs to conda".to_owned());
    }
    let python = environment.python.display().to_string();
    let words = ["-I", "-m", "pip", "install"].into_iter().chain(QUIET).chain(which.iter().copied());
    let argv = std::iter::once(python.clone()).chain(words.map(str::to_owned)).collect();
    Ok(Plan {
        tool: "pip",
        argv,
        shown: command(&pip(&python, which)),
        cwd: case.job.cwd.clone(),
        place: environment.root,
        env: TAKEN.iter().map(|name| ((*name).to_owned(), None)).collect(),
        risk: if declared.terms.own_index { Risk::High } else { Risk::Medium },
    })
}

/// The words of a person's call of pip.
fn pip<'a>(python: &'a str, which: &[&'a str]) -> Vec<&'a str> {
    let fixed = [python, "-m", "pip", "install", "--only-binary", ":all:"];
    fixed.into_iter().chain(which.iter().copied()).collect()
}

/// The command for a person: into the job's environment, else into the one that lies beside the program, else into a new
/// one.
fn by_hand(
    case: &Case<'_>,
    folders: &[PathBuf],
    environment: Option<&Environment>,
    which: &[&str],
) -> String {
    let beside = || venv::beside(case, folders);
    if let Some(found) = environment.cloned().or_else(beside) {
        return command(&pip(&found.python.display().to_string(), which));
    }
    let folder = folders.first().cloned().unwrap_or_else(|| case.job.cwd.clone());
    let (root, python) = (folder.join(".venv").display().to_string(), folder.join(".venv/bin/python"));
    let python = python.display().to_string();
    format!("{} && {}", command(&["python3", "-m", "venv", &root]), command(&pip(&python, which)))
}

/// A command line in a folder.
fn line(folder: &Path, words: &[&str]) -> String {
    format!("cd {} && {}", quoted(&folder.display().to_string()), command(words))
}

fn command(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn scene() -> TestScene {
        TestScene::new()
            .file(".venv/pyvenv.cfg", "home = /usr/bin\n")
            .raw(".venv/bin/python", b"", 0o755)
            .file("requirements.txt", "PyYAML==6.0.1\n")
    }

    fn asked(scene: TestScene, argv: &[&str], module: &str) -> Option<Wanted> {
        let fault = Fault::MissingModule { name: module.to_owned() };
        let case = TestCase::new("job.py", &format!("import {module}\n"), scene).fault(fault).argv(argv);
        wanted(&case.case())
    }

    #[test]
    fn a_declared_package_goes_into_the_jobs_environment() {
        let found = asked(scene(), &[".venv/bin/python", "job.py"], "yaml").unwrap();
        let plan = found.plan.unwrap();
        assert_eq!((found.what.as_str(), plan.risk), ("PyYAML==6.0.1", Risk::Medium));
        assert_eq!(plan.place, Path::new("/srv/job/.venv"));
        assert_eq!(plan.shown, "/srv/job/.venv/bin/python -m pip install --only-binary :all: PyYAML==6.0.1");
        assert_eq!(found.by_hand, plan.shown);
        assert!(plan.argv.ends_with(&["--only-binary".into(), ":all:".into(), "PyYAML==6.0.1".into()]));
    }

    #[test]
    fn without_an_environment_a_person_makes_one() {
        let bare =
            TestScene::new().file("requirements.txt", "PyYAML>=6\n").command("python3", "/usr/bin/python3");
        let found = asked(bare, &["python3", "job.py"], "yaml").unwrap();
        assert!(found.plan.is_err());
        assert_eq!(
            found.by_hand,
            "python3 -m venv /srv/job/.venv && /srv/job/.venv/bin/python -m pip install --only-binary :all: 'PyYAML>=6'"
        );
    }

    #[test]
    fn nothing_is_guessed() {
        let python = [".venv/bin/python", "job.py"];
        assert_eq!(asked(scene(), &python, "requests"), None);
        let known = asked(scene(), &python, "cv2").unwrap();
        assert!(known.plan.is_err() && known.declared.is_none() && known.what == "opencv-python");
    }

    #[test]
    fn what_names_its_own_index_is_of_high_risk_and_what_builds_is_left() {
        let python = [".venv/bin/python", "job.py"];
        let own = scene().file("requirements.txt", "-i https://example.org/simple\nPyYAML\n");
        let plan = asked(own, &python, "yaml").unwrap().plan.unwrap();
        assert_eq!(plan.risk, Risk::High);
        assert!(plan.argv.ends_with(&["-r".into(), "/srv/job/requirements.txt".into()]));
        let builds = scene().file("requirements.txt", "--no-binary :all:\nPyYAML\n");
        assert!(asked(builds, &python, "yaml").unwrap().plan.is_err());
        let address = scene().file("requirements.txt", "PyYAML @ https://example.org/x.whl\n");
        assert!(asked(address, &python, "yaml").unwrap().plan.is_err());
    }

    #[test]
    fn packages_of_node_are_declared_too() {
        let scene = TestScene::new()
            .file("package.json", "{\n \"dependencies\": {\n  \"left-pad\": \"^1.3.0\"\n }\n}\n")
            .command("npm", "/usr/bin/npm");
        let fault = Fault::MissingModule { name: "left-pad".into() };
        let case = TestCase::new("job.js", "require('left-pad')\n", scene).fault(fault);
        let found = wanted(&case.case()).unwrap();
        assert_eq!((found.what.as_str(), found.declared.unwrap().line), ("left-pad@^1.3.0", 3));
        assert_eq!(found.by_hand, "cd /srv/job && npm install --ignore-scripts");
        assert_eq!(found.plan.unwrap().place, Path::new("/srv/job/node_modules"));
    }
}
