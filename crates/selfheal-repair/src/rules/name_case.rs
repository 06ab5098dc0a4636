//! # A name written with another case than its file has
//!
//! ## What it finds
//! A program names a file or a module of its own, which is there, but written with other capitals.
//!
//! ## Why it fails
//! It was written on a machine whose disk takes `Format.js` and `format.js` for the same. Linux does not.
//!
//! ## Fix
//! The name is written as the file's is.
//!
//! ## Example
//! ```js
//! const { pad } = require('../lib/Format');
//! ```
//! ```js
//! const { pad } = require('../lib/format');
//! ```
//!
//! ## Safety
//! Only where exactly one file of that folder has the same letters, and only in the job's own files.

use std::path::{Component, Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};

rule!(NameCase, "name_case", Safe, propose);

/// What a module's file may end in.
const ENDINGS: &[&str] = &["", ".js", ".mjs", ".cjs", ".json", ".py", ".pm", ".pl"];

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(file) = case.failing_file() else { return Vec::new() };
    case.faults().find_map(|fault| in_file(case, &file, fault)).into_iter().collect()
}

fn in_file(case: &Case, file: &ScriptFile, fault: &Fault) -> Option<Candidate> {
    let home = file.path.parent()?;
    let (written, bases) = match fault {
        Fault::MissingModule { name } if name.starts_with('.') => {
            (name.clone(), vec![absolute(home, Path::new(name))])
        }
        Fault::MissingModule { name } if file.language == Language::Python => {
            (name.clone(), vec![home.join(name.replace('.', "/"))])
        }
        Fault::NoSuchPath { path } => (path.to_str()?.to_owned(), case.places(path)),
        _ => return None,
    };
    let (wrong, right) = bases.iter().find_map(|base| other_case(case, base))?;
    let new = with_case(&written, &wrong, &right)?;
    let count = file.text.matches(&written).count();
    if count == 0 || count > 20 {
        return None;
    }
    let after = file.text.replace(&written, &new);
    Draft::new(
        "name_case",
        format!("{written} is there as {new}: the same letters in another case"),
        "write the name as the file's is",
    )
    .evidence(format!("{} is there", right.display()))
    .rewrite(file, after, format!("{new} for {written}"))
    .done()
}

/// The path that is there with the same letters, and how it was written; exactly one part differs.
fn other_case(case: &Case, wanted: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut there = PathBuf::new();
    let mut parts = wanted.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            there.push(part);
            continue;
        };
        let last = parts.peek().is_none();
        let next = there.join(name);
        if case.scene.facts(&next).is_some() {
            there = next;
            continue;
        }
        let name = name.to_str()?;
        let same = |entry: &&String| {
            let endings = if last { ENDINGS } else { &[""] };
            endings.iter().any(|ending| entry.to_lowercase() == format!("{}{ending}", name.to_lowercase()))
        };
        let names = case.scene.names(&there);
        let mut found = names.iter().filter(same);
        let entry = found.next().filter(|entry| found.next().is_none() && !entry.starts_with(name))?;
        there.push(entry);
    }
    (there != wanted && case.owns(&there)).then(|| (wanted.to_path_buf(), there))
}

/// What was written, with the letters of the path that is there.
fn with_case(written: &str, wrong: &Path, right: &Path) -> Option<String> {
    let parts = |path: &Path| {
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let (wrong, right) = (parts(wrong), parts(right));
    let mut out = written.to_owned();
    for (old, new) in wrong.iter().zip(&right).filter(|(old, new)| old != new) {
        let new = new.get(..old.len())?;
        let at = out.rfind(old.as_str())?;
        out.replace_range(at..at + old.len(), new);
    }
    (out != written).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn writes_names_as_they_are() {
        let scene = TestScene::new().file("lib/format.js", "");
        let node = TestCase::new("jobs/d.js", "const { pad } = require('../lib/Format');\n", scene)
            .fault(Fault::MissingModule { name: "../lib/Format".into() })
            .at(1);
        assert_eq!(node.healed(&NameCase), "const { pad } = require('../lib/format');\n");
        let scene = TestScene::new().file("conf/Hosts.txt", "");
        let shell =
            TestCase::new("x.sh", "sort conf/hosts.txt\n", scene).fault(no_such("conf/hosts.txt")).at(1);
        assert_eq!(shell.healed(&NameCase), "sort conf/Hosts.txt\n");
    }

    #[test]
    fn leaves_other_names_alone() {
        let two = TestScene::new().file("A.txt", "").file("a.TXT", "");
        assert!(TestCase::new("x.sh", "sort a.txt\n", two).fault(no_such("a.txt")).at(1).silent(&NameCase));
        let other = TestScene::new().file("b.txt", "");
        assert!(TestCase::new("x.sh", "sort a.txt\n", other).fault(no_such("a.txt")).at(1).silent(&NameCase));
    }
}
