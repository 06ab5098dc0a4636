//! # A Python program writes into a folder that is missing
//!
//! ## What it finds
//! A Python program opens a file for writing, copies or moves to a path, or opens a database, whose folder does not exist.
//!
//! ## Why it fails
//! `open` makes files, not folders. The folder was never made here, or has a date in its name that is new.
//!
//! ## Fix
//! `os.makedirs(…, exist_ok=True)` for that folder right before it is needed; `os.mkdir` of a nested path becomes
//! `os.makedirs`.
//!
//! ## Example
//! ```python
//! with open(os.path.join(outbox, name), "w") as mail:
//! ```
//! ```python
//! os.makedirs(outbox, exist_ok=True)
//! with open(os.path.join(outbox, name), "w") as mail:
//! ```
//!
//! ## Safety
//! Only for paths that are written, with the limits of `missing_folder`: the job's own folders, no mounts.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::verification::{Check, Expect, SceneEdit};
use selfheal_syntax::python::{Argument, Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::folders::{place_may_be_made, speaks_of_mounts};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(PythonFolder, "python_folder", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let unopened = case.faults().any(
        |fault| matches!(fault, Fault::Other { message } if message.contains("unable to open database file")),
    );
    let databases = if unopened { databases(case) } else { Vec::new() };
    let missing: Vec<PathBuf> = case
        .faults()
        .filter_map(|fault| match fault {
            Fault::NoSuchPath { path } => Some(path.clone()),
            _ => None,
        })
        .chain(databases)
        .flat_map(|path| case.places(&path))
        .filter_map(|place| place.parent().map(Path::to_path_buf))
        .filter(|folder| case.scene.facts(folder).is_none())
        .collect();
    let Some(folder) = missing.iter().find(|folder| place_may_be_made(case, folder)) else {
        return Vec::new();
    };
    for (file, module) in python::modules(case) {
        if speaks_of_mounts(&file.text) {
            continue;
        }
        let lines = python::failing_lines(case, &file.path);
        let near: Vec<Call> = module.calls().into_iter().filter(|call| lines.contains(&call.line)).collect();
        let mut found: Vec<(Call, Made)> =
            near.into_iter().filter_map(|call| Some((call.clone(), made(&call)?))).collect();
        if found.is_empty() && lines.is_empty() {
            // Nobody says where: only when there is one place that it can be.
            found =
                module.calls().into_iter().filter_map(|call| Some((call.clone(), made(&call)?))).collect();
            found.truncate(if found.len() == 1 { 1 } else { 0 });
        }
        let Some((call, made)) = found.first() else { continue };
        let Some(parts) = parts(&module, call, made) else { continue };
        let shown = folder.display().to_string();
        let draft = Draft::new(
            "python_folder",
            format!("line {} writes into {shown}, which does not exist", call.line),
            "make the folder right before it is written into",
        )
        .evidence(format!("{shown} does not exist"))
        .rewrite(&file, splice(&file.text, parts), format!("line {}: make the folder first", call.line))
        .scenario("folder-missing", format!("{shown} is missing"), Expect::Succeeds, Vec::new())
        .checked(vec![Check::Exists { path: folder.clone() }])
        .scenario(
            "folder-present",
            format!("{shown} is there"),
            Expect::SameAsOriginal,
            vec![SceneEdit::MakeFolder { path: folder.clone() }],
        );
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

/// The databases that the failing lines open: SQLite does not say which one it could not.
fn databases(case: &Case) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (file, module) in python::modules(case) {
        let lines = python::failing_lines(case, &file.path);
        for call in module.calls_of("sqlite3.connect").iter().filter(|call| lines.contains(&call.line)) {
            let Some(path) = call.keyword("database").or_else(|| call.arguments.first()) else { continue };
            let value = path.string.clone().or_else(|| {
                let value = case.trace?.value(path.text.trim())?.trim();
                let inner = value.rsplit('(').next()?.trim_end_matches(')');
                Some(inner.trim_matches(['\'', '"']).to_owned())
            });
            found.extend(
                value.filter(|value| !value.is_empty() && !value.starts_with(':')).map(PathBuf::from),
            );
        }
    }
    found
}

/// What has to be made before a call: an expression for the folder, or a better function.
enum Made {
    Folder(String),
    Nested,
}

fn made(call: &Call) -> Option<Made> {
    let target = match call.resolved.as_str() {
        "open" | "io.open" | "zipfile.ZipFile" | "tarfile.open" | "gzip.open" | "codecs.open" => {
            let mode = call.keyword("mode").or_else(|| call.arguments.get(1))?.string.clone()?;
            call.arguments.first().filter(|_| mode.contains(['w', 'a', 'x']))?
        }
        "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.move" | "os.rename" | "os.replace" => {
            call.arguments.get(1)?
        }
        "sqlite3.connect" => call.keyword("database").or_else(|| call.arguments.first())?,
        "logging.FileHandler"
        | "logging.handlers.RotatingFileHandler"
        | "logging.handlers.TimedRotatingFileHandler"
        | "logging.handlers.WatchedFileHandler"
        | "logging.basicConfig" => call.keyword("filename").or_else(|| call.arguments.first())?,
        "os.mkdir" => return Some(Made::Nested),
        _ => {
            let (object, method) = call.callee.rsplit_once('.')?;
            let writes = matches!(method, "write_text" | "write_bytes" | "touch");
            let opened = method == "open"
                && call
                    .arguments
                    .first()
                    .is_some_and(|a| a.string.as_deref().is_some_and(|m| m.contains(['w', 'a'])));
            let simple = object.chars().all(|c| crate::text::is_name(c) || c == '.');
            return ((writes || opened) && simple)
                .then(|| Made::Folder(format!("{object}.parent.mkdir(parents=True, exist_ok=True)")));
        }
    };
    folder(target).map(|folder| Made::Folder(format!("os.makedirs({folder}, exist_ok=True)")))
}

/// The folder above a path as an expression. Only paths that can be evaluated twice.
fn folder(path: &Argument) -> Option<String> {
    if let Some(text) = &path.string {
        let (folder, _) = text.rsplit_once('/')?;
        return Some(format!("\"{folder}\""));
    }
    let text = path.text.trim();
    if let Some(inner) = text.strip_prefix("os.path.join(").and_then(|rest| rest.strip_suffix(')')) {
        let code = python::code_only(inner);
        let commas = python::commas(&code);
        let last = commas.last().copied()?;
        let tail = inner.get(last + 1..)?;
        if !tail.contains('/') {
            let head = inner.get(..last)?;
            return Some(if commas.len() == 1 {
                head.trim().to_owned()
            } else {
                format!("os.path.join({head})")
            });
        }
    }
    let calls = text.replace("os.path.join(", "").contains('(') && !text.starts_with("os.path.join(");
    (!calls && !text.contains('\n')).then(|| format!("os.path.dirname({text})"))
}

fn parts(module: &Module, call: &Call, made: &Made) -> Option<Vec<Part>> {
    match made {
        Made::Nested => {
            let name = call.callee.replace("mkdir", "makedirs");
            Some(vec![(call.span.start..call.span.start + call.callee.len(), name)])
        }
        Made::Folder(line) => {
            let node = python::node_at(module, &call.span)?;
            let mut parts = vec![python::put_before(module, node, line)?];
            if line.contains("os.") {
                parts.extend(python::import(module, "os"));
            }
            Some(parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(text: &str, line: u32) -> TestCase {
        TestCase::new("x.py", text, TestScene::new()).fault(no_such("out/b/x.txt")).at(line)
    }

    #[test]
    fn imports_before_it_makes_the_folder_in_the_first_line() {
        let healed = case("open('out/b/x.txt', 'w').write('x')\n", 1).healed(&PythonFolder);
        assert!(healed.starts_with("import os\nos.makedirs("), "{healed}");
    }

    #[test]
    fn makes_the_folder_before_the_statement() {
        let text = "import json\nfor b in bs:\n    with open(os.path.join(OUT, b, \"x.txt\"), \"w\") as f:\n        f.write(b)\n";
        assert_eq!(
            case(text, 3).healed(&PythonFolder),
            text.replace("import json\n", "import json\nimport os\n")
                .replace("    with", "    os.makedirs(os.path.join(OUT, b), exist_ok=True)\n    with")
        );
        let text = "import os\nshutil.copy(a, target)\n".replace("import os", "import os, shutil");
        assert!(
            case(&text, 2)
                .healed(&PythonFolder)
                .contains("os.makedirs(os.path.dirname(target), exist_ok=True)\nshutil")
        );
        assert!(
            case("p.write_text(x)\n", 1)
                .healed(&PythonFolder)
                .starts_with("p.parent.mkdir(parents=True, exist_ok=True)\n")
        );
        assert_eq!(case("import os\nos.mkdir(d)\n", 2).healed(&PythonFolder), "import os\nos.makedirs(d)\n");
    }

    #[test]
    fn finds_the_only_place_when_nobody_says_where() {
        let text = "def save(t):\n    with open(t, 'w') as f:\n        f.write('x')\n";
        let case = TestCase::new("x.py", text, TestScene::new()).fault(no_such("out/b/x.txt"));
        assert!(
            case.healed(&PythonFolder)
                .contains("    os.makedirs(os.path.dirname(t), exist_ok=True)\n    with")
        );
    }

    #[test]
    fn makes_the_folder_of_a_database() {
        let fault = || Fault::Other { message: "unable to open database file".into() };
        let text = "import sqlite3\ndb = sqlite3.connect('state/seen.db')\n";
        let case = TestCase::new("x.py", text, TestScene::new()).fault(fault()).at(2);
        assert!(case.healed(&PythonFolder).contains("os.makedirs(\"state\", exist_ok=True)\ndb = "));
        let values = std::collections::BTreeMap::from([("DB".to_owned(), "'/srv/job/var/x.db'".to_owned())]);
        let frame = selfheal_core::trace::Frame { values, ..Default::default() };
        let trace = selfheal_core::trace::Trace { frames: vec![frame], ..Default::default() };
        let text = "import sqlite3\ndb = sqlite3.connect(DB)\n";
        let case = TestCase::new("x.py", text, TestScene::new()).fault(fault()).at(2).trace(trace);
        assert!(
            case.healed(&PythonFolder).contains("os.makedirs(os.path.dirname(DB), exist_ok=True)\ndb = ")
        );
        let there = TestCase::new(
            "x.py",
            "import sqlite3\nsqlite3.connect('state/x')\n",
            TestScene::new().folder("state"),
        );
        assert!(there.fault(fault()).at(2).silent(&PythonFolder));
    }

    #[test]
    fn leaves_reading_alone() {
        assert!(case("open('out/b/x.txt')\n", 1).silent(&PythonFolder));
        let text = "\"\"\"Copies to the disk mounted at out/.\"\"\"\nopen('out/b/x.txt', 'w')\n";
        assert!(case(text, 2).silent(&PythonFolder));
        let far = TestCase::new("x.py", "open('/mnt/nas/x', 'w')\n", TestScene::new())
            .fault(no_such("/mnt/nas/x"))
            .at(1);
        assert!(far.silent(&PythonFolder));
    }
}
