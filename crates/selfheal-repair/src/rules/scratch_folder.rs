//! # The folder for temporary files does not exist
//!
//! ## What it finds
//! `mktemp` cannot make its file or folder, because the folder that `TMPDIR`, the option `-p` or its template names is not there.
//!
//! ## Why it fails
//! The job has a scratch space of its own, and nobody made it on this machine, or somebody cleaned up.
//!
//! ## Fix
//! The folder is made right before.
//!
//! ## Example
//! ```sh
//! TMPDIR=scratch/tmp
//! work=$(mktemp -d)
//! ```
//! ```sh
//! TMPDIR=scratch/tmp
//! mkdir -p "$TMPDIR"
//! work=$(mktemp -d)
//! ```
//!
//! ## Safety
//! Only a folder that lies in the job's own and stands for no mount. If something else is in its place, the job still fails.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::verification::{Expect, SceneEdit};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::folders::{is_template, place_may_be_made, speaks_of_mounts};
use crate::shell::{Command, Script, folder_of, splice};

rule!(ScratchFolder, "scratch_folder", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let named = case.faults().find_map(|fault| match fault {
        Fault::NoSuchPath { path } => Some(path.clone()),
        _ => None,
    });
    let named = named.or_else(|| template_of(&case.report.core_error).map(std::path::PathBuf::from));
    let mktemp = case.report.core_error.contains("mktemp")
        || case.report.command.as_ref().is_some_and(|c| c.source.contains("mktemp"));
    let (Some(named), true) = (named, mktemp) else { return Vec::new() };
    let Some(file) =
        case.failing_file().filter(|file| file.language.is_shell() && !speaks_of_mounts(&file.text))
    else {
        return Vec::new();
    };
    let folders = [Some(named.as_path()), named.parent()];
    let missing = folders
        .into_iter()
        .flatten()
        .filter(|path| !is_template(&path.to_string_lossy()))
        .flat_map(|path| case.places(path));
    let Some(folder) = missing.into_iter().find(|place| {
        case.owns(place) && case.scene.facts(place).is_none() && place_may_be_made(case, place)
    }) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let found = script.commands.iter().filter(|command| {
        script.name(command) == "mktemp" && line.is_none_or(|line| script.covers(command, line))
    });
    let found = found.filter_map(|command| {
        let word = folder_word(&script, command)?;
        let at = script.statement(command);
        let line = script.line_of(command.span.start);
        let shown = folder.display();
        Draft::new(
            "scratch_folder",
            format!("line {line}: {shown}, in which mktemp works, does not exist"),
            "make the folder right before",
        )
        .evidence(format!("{shown} does not exist"))
        .rewrite(
            &file,
            splice(&file.text, vec![script.put_before(at, &format!("mkdir -p {word}"))]),
            format!("line {line}: make the folder first"),
        )
        .scenario(
            "folder-present",
            format!("{shown} is there"),
            Expect::SameAsOriginal,
            vec![SceneEdit::MakeFolder { path: folder.clone() }],
        )
        .done()
    });
    found.take(1).collect()
}

/// The folder of the template that a message shows.
fn template_of(message: &str) -> Option<&str> {
    let quoted = message.split(['‘', '\'', '"']).nth(1)?;
    let template = quoted.split(['’', '\'', '"']).next()?;
    Path::new(template).parent()?.to_str().filter(|folder| template.contains("XXX") && !folder.is_empty())
}

/// The folder that a `mktemp` works in, as a word of the script.
fn folder_word(script: &Script<'_>, command: &Command) -> Option<String> {
    let words = script.words(command);
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        if let Some(folder) = word.strip_prefix("--tmpdir=") {
            return Some(folder.to_owned());
        }
        if *word == "-p" {
            return rest.next().map(|folder| (*folder).to_owned());
        }
        if !word.starts_with('-') && word.contains('/') {
            return folder_of(word);
        }
    }
    let set = script.text.contains("TMPDIR") || words.len() > 1;
    set.then(|| "\"$TMPDIR\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32) -> TestCase {
        let mut case = TestCase::new("x.sh", text, TestScene::new()).at(line);
        case.report.core_error =
            "mktemp: failed to create directory via template ‘scratch/tmp/tmp.XXXXXXXXXX’: No such file or directory".to_owned();
        case
    }

    #[test]
    fn makes_the_folder_before() {
        let healed = case("export TMPDIR=scratch/tmp\nwork=$(mktemp -d)\n", 2).healed(&ScratchFolder);
        assert_eq!(healed, "export TMPDIR=scratch/tmp\nmkdir -p \"$TMPDIR\"\nwork=$(mktemp -d)\n");
        let healed = case("t=$(mktemp \"scratch/tmp/tmp.XXXXXXXXXX\")\n", 1).healed(&ScratchFolder);
        assert!(healed.starts_with("mkdir -p ") && healed.contains("scratch/tmp"), "{healed}");
    }

    #[test]
    fn leaves_folders_of_others_and_mounts_alone() {
        let mut other = case("work=$(mktemp -d -p /srv/other)\n", 1);
        other.report.core_error =
            "mktemp: failed to create directory via template ‘/srv/other/tmp.XXX’".to_owned();
        assert!(other.silent(&ScratchFolder));
        assert!(case("# the disk is mounted at scratch\nwork=$(mktemp -d)\n", 2).silent(&ScratchFolder));
    }
}
