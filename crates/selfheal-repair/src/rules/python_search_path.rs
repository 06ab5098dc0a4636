//! # A program that a Python program does not find on its PATH
//!
//! ## What it finds
//! A Python program starts another program by its name, which is not on the PATH, but lies in one of the job's own folders or in
//! one of the usual folders of this machine.
//!
//! ## Why it fails
//! Schedulers start jobs with a short PATH. What a person's shell adds (`/usr/local/bin`, the project's own tools) is missing.
//!
//! ## Fix
//! The folder is added at the end of the PATH, relative to the program when it is one of the job's own.
//!
//! ## Example
//! ```python
//! subprocess.run(["orderstat", path], check=True)
//! ```
//! ```python
//! os.environ["PATH"] += os.pathsep + os.path.join(os.path.dirname(os.path.abspath(__file__)), "vendor/bin")
//! subprocess.run(["orderstat", path], check=True)
//! ```
//!
//! ## Safety
//! Only folders that hold an executable file of exactly that name. Added at the end, the folder changes no other command.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::folders::is_aside;
use crate::python;
use crate::shell::splice;

rule!(PythonSearchPath, "python_search_path", Safe, propose);

/// Folders that are looked into, at most.
const MOST_FOLDERS: usize = 200;

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::CommandNotFound { name } if !name.contains('/') && !name.is_empty() => Some(name.clone()),
        _ => None,
    });
    let Some(name) = missing else { return Vec::new() };
    let starts = |module: &selfheal_syntax::python::Module| {
        let literal = module.nodes("string").into_iter().filter_map(|node| module.string(node));
        literal.map(|text| text.split(' ').next().unwrap_or_default().to_owned()).any(|first| first == name)
            && module.text().contains("subprocess")
    };
    let Some((file, module)) = python::modules(case).into_iter().find(|(_, module)| starts(module)) else {
        return Vec::new();
    };
    let home = file.folder().to_path_buf();
    let usual = case.scene.which(&name).first().and_then(|path| path.parent()).map(Path::to_path_buf);
    let Some(folder) = below(case, &home, &name).or(usual) else { return Vec::new() };
    let at = python::after_imports(&module);
    let entry = entry(&home, &folder);
    let mut line = format!("\nos.environ[\"PATH\"] += os.pathsep + {entry}\n");
    let mut parts = Vec::new();
    match python::import(&module, "os") {
        Some((span, import)) if span.start == at => line = format!("{import}{line}"),
        Some(import) => parts.push(import),
        None => {}
    }
    parts.push((at..at, line));
    let draft = Draft::new(
        "python_search_path",
        format!("{name} is in {}, which is not on the job's PATH", folder.display()),
        "add the folder at the end of the PATH",
    )
    .evidence(format!("{} exists", folder.join(&name).display()))
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {}: the folder of {name} on the PATH", python::line_of(&file.text, at)),
    );
    draft.done().into_iter().collect()
}

/// The nearest folder of the job with an executable file of that name; the only one at its depth.
fn below(case: &Case, home: &Path, name: &str) -> Option<PathBuf> {
    let mut waiting = vec![home.to_path_buf()];
    if case.job.cwd != home {
        waiting.push(case.job.cwd.clone());
    }
    for _ in 0..4 {
        let holds = |folder: &&PathBuf| {
            let facts = case.scene.facts(&folder.join(name));
            facts.is_some_and(|facts| facts.kind == Kind::File && facts.mode & 0o111 != 0)
                && case.owns(folder)
        };
        let mut found = waiting.iter().filter(holds);
        if let Some(first) = found.next() {
            return found.next().is_none().then(|| first.clone());
        }
        let mut next: Vec<PathBuf> = Vec::new();
        for folder in &waiting {
            let names = case.scene.names(folder).into_iter().filter(|name| !name.starts_with('.'));
            let folders = names.map(|name| folder.join(name)).filter(|path| !is_aside(home, path));
            next.extend(
                folders
                    .filter(|path| case.scene.facts(path).is_some_and(|facts| facts.kind == Kind::Directory)),
            );
        }
        next.dedup();
        next.truncate(MOST_FOLDERS);
        waiting = next;
    }
    None
}

/// The folder as an expression: relative to the program when both are in one project.
fn entry(home: &Path, folder: &Path) -> String {
    let own = "os.path.dirname(os.path.abspath(__file__))";
    if folder == home {
        return own.to_owned();
    }
    if let Ok(rest) = folder.strip_prefix(home) {
        return format!("os.path.join({own}, \"{}\")", rest.display());
    }
    match home.parent().and_then(|above| folder.strip_prefix(above).ok()) {
        Some(rest) if home.components().count() > 3 => {
            format!("os.path.join({own}, \"../{}\")", rest.display())
        }
        _ => format!("\"{}\"", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "import subprocess\n\nsubprocess.run([\"wordlist\", \"a\"], check=True)\n";

    fn case(scene: TestScene) -> TestCase {
        TestCase::new("x.py", TEXT, scene).fault(Fault::CommandNotFound { name: "wordlist".into() }).at(3)
    }

    #[test]
    fn adds_the_folder_of_the_program() {
        let healed = case(TestScene::new().raw("vendor/bin/wordlist", b"#!/bin/sh\n", 0o755))
            .healed(&PythonSearchPath);
        let line = "os.environ[\"PATH\"] += os.pathsep + os.path.join(os.path.dirname(os.path.abspath(__file__)), \"vendor/bin\")\n";
        assert!(healed.contains(line) && healed.starts_with("import os\nimport subprocess\n"), "{healed}");
        let healed =
            case(TestScene::new().command("wordlist", "/usr/local/bin/wordlist")).healed(&PythonSearchPath);
        assert!(healed.contains("+= os.pathsep + \"/usr/local/bin\"\n"), "{healed}");
    }

    #[test]
    fn leaves_what_is_not_there_or_twice_alone() {
        assert!(case(TestScene::new().file("bin/wordlist", "no program")).silent(&PythonSearchPath));
        assert!(case(TestScene::new().raw("tests/fakes/wordlist", b"x", 0o755)).silent(&PythonSearchPath));
        let two = TestScene::new().raw("a/wordlist", b"x", 0o755).raw("b/wordlist", b"y", 0o755);
        assert!(case(two).silent(&PythonSearchPath));
    }
}
