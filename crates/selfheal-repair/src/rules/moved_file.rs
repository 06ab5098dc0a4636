//! # A file that was moved
//!
//! ## What it finds
//! A script reads or runs a file that is not there, and exactly one file of that name lies somewhere else in the job's own
//! folders.
//!
//! ## Why it fails
//! The file got another place, and the script still names the old one.
//!
//! ## Fix
//! The script names the file where it is.
//!
//! ## Example
//! ```sh
//! LIST=config/stores.txt
//! ```
//! ```sh
//! LIST=settings/stores.txt
//! ```
//!
//! ## Safety
//! Only when the old path stands in the script as it is, and only when one file of the name exists. It may be another file
//! of that name, so the risk is medium.

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::folders::is_aside;

rule!(MovedFile, "moved_file", Unsafe, propose);

/// Folders that are looked into, at most.
const MOST_FOLDERS: usize = 300;

fn propose(case: &Case) -> Vec<Candidate> {
    let mut out = Vec::new();
    for fault in case.faults() {
        let path = match fault {
            Fault::NoSuchPath { path } => path.clone(),
            // A command with a folder before its name is a file like another.
            Fault::CommandNotFound { name } if name.contains('/') => PathBuf::from(name),
            _ => continue,
        };
        out.extend(moved(case, &path));
    }
    out
}

fn moved(case: &Case, path: &Path) -> Option<Candidate> {
    // Some programs name what they miss by its whole path, where the script has a relative one.
    let short =
        path.strip_prefix(case.base()).ok().filter(|short| !is_named(case, path) && is_named(case, short));
    let path = short.unwrap_or(path);
    let old = path.to_string_lossy().into_owned();
    let name = path.file_name()?.to_string_lossy().into_owned();
    if case.find(path).is_some() || name.len() < 3 || crate::globs::is_pattern(&old) {
        return None;
    }
    let base = case.base();
    let places = named(case, &base, &name);
    let [place] = places.as_slice() else { return None };
    let new =
        if path.is_absolute() { place.to_path_buf() } else { place.strip_prefix(&base).ok()?.to_path_buf() };
    let new = new.to_string_lossy().into_owned();
    for file in case.files() {
        // The whole path as one word: not a part of a longer one.
        let spots: Vec<usize> = file
            .text
            .match_indices(&old)
            .map(|(at, _)| at)
            .filter(|at| stands_alone(&file.text, *at, &old))
            .collect();
        if spots.is_empty() {
            continue;
        }
        let parts = spots.iter().map(|at| (*at..at + old.len(), new.clone())).collect();
        return named_there(&old, &new)
            .rewrite(&file, crate::shell::splice(&file.text, parts), format!("{new} for {old}"))
            .done();
    }
    below_its_old_folder(case, path, &old, &new, &name)
}

/// The beginning of a repair that names a file where it is.
fn named_there(old: &str, new: &str) -> Draft {
    Draft::new(
        "moved_file",
        format!("{old} is not there; a file of that name is at {new}"),
        "name the file where it is",
    )
    .evidence(format!("{new} exists and is the only file of that name"))
    .meaning()
}

/// A path that is put together (`os.path.join("logs", "a.log")`, `"$LOGS/a.log"`), where the file lies below its old folder now:
/// the name gets the folders between.
fn below_its_old_folder(case: &Case, path: &Path, old: &str, new: &str, name: &str) -> Option<Candidate> {
    let between =
        Path::new(new).strip_prefix(path.parent()?).ok().filter(|rest| rest.components().count() > 1)?;
    let between = between.to_string_lossy().into_owned();
    let in_text = |text: &str, at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
        before.is_some_and(|c| matches!(c, '"' | '\'' | '/'))
            && !after.is_some_and(|c| crate::text::is_name(c) || c == '.')
    };
    for file in case.files() {
        let spots: Vec<usize> =
            file.text.match_indices(name).map(|(at, _)| at).filter(|at| in_text(&file.text, *at)).collect();
        let [at] = spots.as_slice() else { continue };
        return named_there(old, new)
            .rewrite(
                &file,
                crate::shell::splice(&file.text, vec![(*at..at + name.len(), between.clone())]),
                format!("{between} for {name}"),
            )
            .done();
    }
    None
}

/// Whether a file of the job names a path as it is.
fn is_named(case: &Case, path: &Path) -> bool {
    path.to_str()
        .is_some_and(|path| !path.is_empty() && case.files().iter().any(|file| file.text.contains(path)))
}

fn stands_alone(text: &str, at: usize, old: &str) -> bool {
    let part = |c: char| crate::text::is_name(c) || matches!(c, '/' | '-' | '.' | '$' | '}');
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at + old.len()..).and_then(|rest| rest.chars().next());
    !before.is_some_and(part) && !after.is_some_and(|c| crate::text::is_name(c) || matches!(c, '/' | '-'))
}

/// The files of a name in a folder and below it.
fn named(case: &Case, base: &Path, name: &str) -> Vec<PathBuf> {
    let mut waiting = vec![base.to_path_buf()];
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        seen += 1;
        if seen > MOST_FOLDERS || !case.owns(&folder) {
            continue;
        }
        for entry in case.scene.names(&folder) {
            let place = folder.join(&entry);
            match case.scene.facts(&place).map(|facts| facts.kind) {
                Some(Kind::File) if entry == name && !is_aside(base, &place) => found.push(place),
                Some(Kind::Directory) if !entry.starts_with('.') && waiting.len() < MOST_FOLDERS => {
                    waiting.push(place)
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn a_path_that_is_put_together_gets_the_folders_between() {
        let scene = || TestScene::new().file("proxy/log/access.log", "x");
        let text = "import os\nLOG = os.path.join(\"proxy\", \"access.log\")\nopen(LOG)\n";
        let case = TestCase::new("x.py", text, scene()).fault(no_such("proxy/access.log")).at(3);
        assert_eq!(case.healed(&MovedFile), text.replace("\"access.log\"", "\"log/access.log\""));
        let text = "P=proxy\ncat \"$P/access.log\"\ncat \"$P/access.log.1\"\n";
        let case = TestCase::new("x.sh", text, scene()).fault(no_such("proxy/access.log")).at(2);
        assert_eq!(case.healed(&MovedFile), text.replace("access.log\"", "log/access.log\""));
        let twice = "cat \"$P/access.log\" \"$Q/access.log\"\n";
        assert!(TestCase::new("x.sh", twice, scene()).fault(no_such("proxy/access.log")).silent(&MovedFile));
    }

    fn case(scene: TestScene) -> TestCase {
        let text = "LIST=config/stores.txt\nsort < \"$LIST\" > out\ncp old/config/stores.txt x\n";
        TestCase::new("x.sh", text, scene).fault(no_such("config/stores.txt")).at(2)
    }

    #[test]
    fn names_the_file_where_it_is() {
        let healed = case(TestScene::new().file("settings/stores.txt", "a")).healed(&MovedFile);
        assert!(
            healed.starts_with("LIST=settings/stores.txt\n") && healed.contains("old/config/stores.txt"),
            "{healed}"
        );
    }

    #[test]
    fn names_it_in_python_too() {
        let scene = TestScene::new().file("etc/rates.csv", "a,1\n");
        let case = TestCase::new("r.py", "rows = open('data/rates.csv').read()\n", scene);
        let healed = case.fault(no_such("data/rates.csv")).at(1).healed(&MovedFile);
        assert_eq!(healed, "rows = open('etc/rates.csv').read()\n");
    }

    #[test]
    fn programs_move_too() {
        let scene = TestScene::new().raw("vendor/css/minify", b"#!/bin/sh\n", 0o755);
        let case = TestCase::new("Makefile", "MIN = vendor/minify\nall:\n\t$(MIN) a > b\n", scene);
        let healed = case.fault(Fault::CommandNotFound { name: "vendor/minify".into() }).healed(&MovedFile);
        assert!(healed.starts_with("MIN = vendor/css/minify\n"), "{healed}");
        let scene = TestScene::new().file("scripts/links.py", "pass\n");
        let case = TestCase::new("x.sh", "python3 tools/links.py --all\n", scene);
        let healed = case.fault(no_such("/srv/job/tools/links.py")).healed(&MovedFile);
        assert_eq!(healed, "python3 scripts/links.py --all\n");
    }

    #[test]
    fn leaves_unknown_and_ambiguous_files_alone() {
        assert!(case(TestScene::new()).silent(&MovedFile));
        let two = TestScene::new().file("a/stores.txt", "a").file("b/stores.txt", "a");
        assert!(case(two).silent(&MovedFile));
    }
}
