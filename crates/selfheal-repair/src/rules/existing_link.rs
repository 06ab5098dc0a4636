//! # A link is made that is there already
//!
//! ## What it finds
//! `ln -s` ends the job because a link of that name exists.
//!
//! ## Why it fails
//! An earlier run made it; this one wants it to lead elsewhere.
//!
//! ## Fix
//! `ln -sfn` puts the new link in the place of the old one, also where the old one leads to a folder.
//!
//! ## Example
//! ```sh
//! ln -s releases/"$version" current
//! ```
//! ```sh
//! ln -sfn releases/"$version" current
//! ```
//!
//! ## Safety
//! Only where what is there is a link: a file or a folder in the way is never replaced.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, Values, splice};

rule!(ExistingLink, "existing_link", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let there = case.faults().find_map(|fault| match fault {
        Fault::PathExists { path } => link(case, path),
        _ => None,
    });
    let Some((there, leads)) = there else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let found = script.commands.iter().find_map(|command| {
        let here = line.is_some_and(|line| script.covers(command, line)) && !script.in_condition(command);
        options(&script, command).filter(|_| here)
    });
    let Some((span, new)) = found else { return Vec::new() };
    let number = script.line_of(span.start);
    Draft::new(
        "existing_link",
        format!("line {number}: the link that ln should make is there already, from an earlier run"),
        "put the new link in its place",
    )
    .evidence(format!("{there} is a link to {leads}"))
    .rewrite(&file, splice(&file.text, vec![(span, new)]), format!("line {number}: ln -sfn"))
    .done()
    .into_iter()
    .collect()
}

/// A link that is there, absolute, and where it leads.
fn link(case: &Case, path: &Path) -> Option<(String, String)> {
    case.places(path).into_iter().find_map(|place| {
        let name = place.to_str()?.to_owned();
        let leads = case.scene.ask(&["readlink", "--", &name])?;
        (!leads.trim().is_empty()).then(|| (name, leads.trim().to_owned()))
    })
}

/// The edits that let a script run again whose links are there from its last run: a plain `ln -s` would put its link into the
/// folder that the old one leads to, and nobody would notice.
pub(super) fn again(case: &Case, script: &Script<'_>, values: &Values<'_>) -> Vec<(Range<usize>, String)> {
    let links = script.commands.iter().filter(|command| !script.in_condition(command));
    links
        .filter_map(|command| {
            let edit = options(script, command)?;
            let name = values.word(script.get(command.words.last().filter(|_| command.words.len() == 4)?))?;
            link(case, Path::new(&name)).map(|_| edit)
        })
        .collect()
}

/// The place of the options of a symbolic `ln`, and what should stand there.
fn options(script: &Script<'_>, command: &Command) -> Option<(Range<usize>, String)> {
    let span = command.words.get(1).filter(|_| script.name(command) == "ln")?;
    match script.get(span) {
        "--symbolic" => Some((span.clone(), "-sfn".to_owned())),
        word if word.starts_with('-')
            && !word.starts_with("--")
            && word.contains('s')
            && !word.contains('f') =>
        {
            let missing: String = "fn".chars().filter(|c| !word.contains(*c)).collect();
            Some((span.clone(), format!("{word}{missing}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, leads: &str) -> TestCase {
        let scene = TestScene::new().folder("r/1").answer("readlink -- /srv/job/current", leads);
        TestCase::new("x.sh", &format!("{line}\n"), scene)
            .fault(Fault::PathExists { path: "current".into() })
            .at(1)
    }

    #[test]
    fn replaces_a_link() {
        assert_eq!(case("ln -s r/2 current", "r/1\n").healed(&ExistingLink), "ln -sfn r/2 current\n");
        assert_eq!(
            case("ln -sn \"$new\" current", "r/1\n").healed(&ExistingLink),
            "ln -snf \"$new\" current\n"
        );
    }

    #[test]
    fn never_replaces_anything_else() {
        assert!(case("ln -s r/2 current", "").silent(&ExistingLink));
        assert!(case("ln r/2 current", "r/1\n").silent(&ExistingLink));
        assert!(case("ln -s r/2 current || true", "r/1\n").silent(&ExistingLink));
    }
}
