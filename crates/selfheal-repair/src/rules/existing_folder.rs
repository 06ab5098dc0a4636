//! # A folder is made that is there already
//!
//! ## What it finds
//! `mkdir` ends the job because the folder that it should make exists.
//!
//! ## Why it fails
//! An earlier run made it, or was cut off after it did: the script can run only once.
//!
//! ## Fix
//! `mkdir -p`, which is content with a folder that is there. Links that the script makes and that are there are replaced, too.
//!
//! ## Example
//! ```sh
//! mkdir releases/"$version"
//! ```
//! ```sh
//! mkdir -p releases/"$version"
//! ```
//!
//! ## Safety
//! Only where what is there is a folder: a file in the way still fails. A `mkdir` that is a lock, that stands in a condition,
//! or whose folder speaks of one, stays as it is.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::Kind;
use selfheal_core::verification::{Expect, SceneEdit};

use crate::candidate::{Candidate, Draft, written};
use crate::case::Case;
use crate::shell::{Command, Script, Values, splice};

rule!(ExistingFolder, "existing_folder", Safe, propose);

/// Words of names that are made to keep others out.
const LOCKS: &[&str] = &["lock", "lck", "mutex", "running", "busy", "pid", "claim"];

fn propose(case: &Case) -> Vec<Candidate> {
    let there = case.faults().find_map(|fault| match fault {
        Fault::PathExists { path } => case.find(path),
        _ => None,
    });
    let folder = |path: &Path| case.scene.facts(path).is_some_and(|facts| facts.kind == Kind::Directory);
    let Some(there) = there.filter(|path| folder(path)) else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let found = script.commands.iter().find(|command| {
        line.is_some_and(|line| script.covers(command, line)) && makes_plainly(&script, command)
    });
    let Some(command) = found else { return Vec::new() };
    let Some(name) = command.words.first() else { return Vec::new() };
    let number = script.line_of(command.span.start);
    let mut parts = super::existing_link::again(case, &script, &Values::new(case, &script, file.folder()));
    parts.push((name.end..name.end, " -p".to_owned()));
    let links = parts.len() > 1;
    let mut draft = Draft::new(
        "existing_folder",
        format!("line {number}: the folder that mkdir should make is there already, from an earlier run"),
        "be content with a folder that is there",
    )
    .evidence(format!("{} is a folder", there.display()))
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: mkdir -p"));
    // Where links are replaced, too, the original does other things from every start.
    if !links {
        let absent = vec![SceneEdit::Remove { path: there.clone() }];
        draft = draft.scenario("absent", "the folder is not there", Expect::SameAsOriginal, absent);
    }
    draft
        .scenario(
            "file-in-the-way",
            "a file stands in its place",
            Expect::Fails,
            vec![SceneEdit::Remove { path: there.clone() }, written(there, "x\n")],
        )
        .done()
        .into_iter()
        .collect()
}

/// Whether a command is a `mkdir` that decides nothing and keeps nobody out.
fn makes_plainly(script: &Script<'_>, command: &Command) -> bool {
    let words = script.words(command);
    let text = words.join(" ").to_lowercase();
    let parents = words.iter().any(|word| {
        *word == "--parents" || (word.starts_with('-') && !word.starts_with("--") && word.contains('p'))
    });
    script.name(command) == "mkdir"
        && !parents
        && !script.in_condition(command)
        && !LOCKS.iter().any(|lock| text.contains(lock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new().folder("out/1").file("out/f", ""))
            .fault(Fault::PathExists { path: "out/1".into() })
            .at(1)
    }

    #[test]
    fn is_content_with_a_folder_that_is_there() {
        assert_eq!(case("mkdir \"out/$V\"").healed(&ExistingFolder), "mkdir -p \"out/$V\"\n");
        assert_eq!(
            case("mkdir -m 700 out/1; cp a out/1").healed(&ExistingFolder),
            "mkdir -p -m 700 out/1; cp a out/1\n"
        );
    }

    #[test]
    fn leaves_locks_conditions_and_files_alone() {
        assert!(case("mkdir out/1.lock").silent(&ExistingFolder));
        assert!(case("if mkdir out/1; then :; fi").silent(&ExistingFolder));
        assert!(case("mkdir out/1 || exit 0").silent(&ExistingFolder));
        let file = TestCase::new("x.sh", "mkdir out/f\n", TestScene::new().file("out/f", ""));
        assert!(file.fault(Fault::PathExists { path: "out/f".into() }).at(1).silent(&ExistingFolder));
    }
}
