//! # A file name that begins with a dash is taken for an option
//!
//! ## What it finds
//! `rm *.tmp` in a folder with a file `-draft.tmp`: the command complains about an option that nobody gave.
//!
//! ## Why it fails
//! The shell puts the names in the place of the pattern, and a command cannot know a name from an option.
//!
//! ## Fix
//! The pattern begins with `./`, so that every name does.
//!
//! ## Example
//! ```sh
//! rm *.tmp
//! ```
//! ```sh
//! rm ./*.tmp
//! ```
//!
//! ## Safety
//! Only when a file whose name begins with a dash matches the pattern now. The same files are meant.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::verification::{Check, Expect};

use crate::candidate::{Candidate, Draft, removed};
use crate::case::Case;
use crate::globs;
use crate::shell::{Script, splice};

rule!(LeadingDash, "leading_dash", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let option = case.faults().any(|fault| matches!(fault, Fault::UnknownOption { .. }))
        || ["invalid option", "unrecognized option", "unknown option"]
            .iter()
            .any(|text| case.report.core_error.contains(text));
    let Some(file) = case.failing_file().filter(|file| option && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let folders = case.places(Path::new("."));
    let dashed: Vec<String> = folders
        .iter()
        .flat_map(|folder| case.scene.names(folder))
        .chain(changed_folders(case, &script))
        .filter(|name| name.starts_with('-'))
        .take(1_000)
        .collect();
    let mut parts = Vec::new();
    let mut shown = None;
    for command in script.commands.iter().filter(|c| line.is_none_or(|line| script.covers(c, line))) {
        for span in command.words.iter().skip(1) {
            let word = script.get(span);
            if !word.starts_with(['*', '?', '['])
                || !globs::is_pattern(word)
                || word.contains(['/', '$', '"', '\''])
            {
                continue;
            }
            if let Some(name) = dashed.iter().find(|name| globs::matches(word, name)) {
                parts.push((span.start..span.start, "./".to_owned()));
                shown = Some((script.line_of(span.start), name.clone()));
            }
        }
    }
    let Some((line, name)) = shown else { return Vec::new() };
    let draft = Draft::new(
        "leading_dash",
        format!("line {line}: the pattern matches {name}, which the command takes for an option"),
        "let every name begin with ./",
    )
    .evidence(format!("there is a file {name}"))
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: ./ before the pattern"));
    let draft =
        match folders.iter().map(|folder| folder.join(&name)).find(|path| case.scene.facts(path).is_some()) {
            Some(path) => draft
                .scenario(
                    "without-it",
                    format!("{name} is not there"),
                    Expect::SameAsOriginal,
                    vec![removed(path)],
                )
                .checked(vec![Check::Succeeded]),
            None => draft,
        };
    draft.done().into_iter().collect()
}

/// The names in the folders that the script changes into, as written.
fn changed_folders(case: &Case, script: &Script<'_>) -> Vec<String> {
    let cds = script.commands.iter().filter(|command| script.name(command) == "cd");
    let targets = cds.filter_map(|command| {
        let word = script.get(command.words.get(1)?);
        let tail = word.rsplit([')', '}']).next()?.trim_matches(['"', '\'', '/']);
        case.find(Path::new(tail)).filter(|_| !tail.is_empty() && !tail.contains('$'))
    });
    targets.flat_map(|folder| case.scene.names(&folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, names: &[&str]) -> TestCase {
        let scene = names.iter().fold(TestScene::new(), |scene, name| scene.file(name, "x"));
        TestCase::new("x.sh", text, scene)
            .fault(Fault::UnknownOption { command: "rm".into(), option: "d".into() })
            .at(2)
    }

    #[test]
    fn lets_every_name_begin_with_the_folder() {
        assert_eq!(
            case("set -e\nrm *.tmp\n", &["-d.tmp", "b.tmp"]).healed(&LeadingDash),
            "set -e\nrm ./*.tmp\n"
        );
        let text = "cd \"$(dirname \"$0\")/inbox\"\nrm *.tmp\n";
        assert!(case(text, &["inbox/-d.tmp"]).healed(&LeadingDash).contains("rm ./*.tmp"));
    }

    #[test]
    fn leaves_real_options_alone() {
        assert!(case("set -e\nrm -d *.tmp\n", &["b.tmp"]).silent(&LeadingDash));
        assert!(case("set -e\nrm *.tmp\n", &["-d.txt"]).silent(&LeadingDash));
        assert!(case("set -e\nrm a/*.tmp\n", &["-d.tmp"]).silent(&LeadingDash));
    }
}
