//! # A cd that fails unnoticed
//!
//! ## What it finds
//! A script without `set -e` changes into a folder of its own that does not exist, goes on in the wrong folder, and works
//! with the files there.
//!
//! ## Why it fails
//! A failed `cd` leaves the script where it was. Everything after it, by relative names, hits other files.
//!
//! ## Fix
//! The folder is made when it is one that the script fills, and the script ends when it cannot change into it. Later
//! commands that fill the folder end the script, too, when they fail.
//!
//! ## Example
//! ```sh
//! cd "$base/stage/$month"
//! cp "$base"/incoming/*.csv .
//! ```
//! ```sh
//! mkdir -p "$base/stage/$month" || exit 1
//! cd "$base/stage/$month" || exit 1
//! cp "$base"/incoming/*.csv . || exit 1
//! ```
//!
//! ## Safety
//! A folder is made only when the script writes into it right after the `cd`, with the limits of `missing_folder`. All
//! unchecked `cd`s of the script get the check.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;
use selfheal_core::verification::{Expect, SceneEdit};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::folders::{Destination, may_be_made};
use crate::shell::{Command, Script, Values, splice};

rule!(UncheckedCd, "unchecked_cd", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing: Vec<&Path> = case
        .faults()
        .filter_map(|fault| match fault {
            Fault::NoSuchPath { path } => Some(path.as_path()),
            _ => None,
        })
        .collect();
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell() && !missing.is_empty())
    else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let strict = script.strict('e', "errexit");
    let unchecked: Vec<&Command> =
        script.commands.iter().filter(|c| script.name(c) == "cd" && is_unchecked(&script, c)).collect();
    let found = unchecked.iter().enumerate().find_map(|(at, command)| {
        let word = *script.words(command).get(1)?;
        let place = values.word(word).map(|value| absolute(&case.base(), Path::new(&value)));
        let named =
            missing.iter().any(|path| place.as_ref().is_some_and(|place| case.places(path).contains(place)))
                || (place.is_none() && case.line_in(&file).is_some_and(|line| script.covers(command, line)));
        named.then_some((at, word, place))
    });
    let Some((at, word, place)) = found else { return Vec::new() };
    let Some(command) = unchecked.get(at).copied() else { return Vec::new() };
    let target =
        Destination { word: word.to_owned(), place: place.clone(), command: 0, before: command.span.start };
    if !fills(&script, command) || !may_be_made(case, &script, &target) {
        return Vec::new();
    }
    let check = if strict { "" } else { " || exit 1" };
    let mut parts: Vec<(Range<usize>, String)> =
        vec![script.put_before(command.span.start, &format!("mkdir -p {word}{check}"))];
    if !strict {
        parts.extend(unchecked.iter().map(|command| (command.span.end..command.span.end, check.to_owned())));
        parts.extend(filling(&script, command).into_iter().map(|end| (end..end, check.to_owned())));
    }
    let line = script.line_of(command.span.start);
    let draft = Draft::new(
        "unchecked_cd",
        format!(
            "line {line}: cd fails because {word} does not exist, and the script goes on in the wrong folder"
        ),
        "make the folder that the script fills, and end when it cannot be entered",
    )
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {line}: make {word}, and end when cd fails"),
    );
    let draft = match place.filter(|place| case.owns(place)) {
        Some(place) => {
            draft.scenario("folder-missing", "the folder is missing", Expect::Succeeds, Vec::new()).scenario(
                "file-in-the-way",
                "a file is in the folder's place",
                Expect::Fails,
                vec![
                    SceneEdit::Remove { path: place.clone() },
                    SceneEdit::Write { path: place, content: b"x\n".to_vec(), mode: None },
                ],
            )
        }
        None => draft,
    };
    draft.done().into_iter().collect()
}

fn is_unchecked(script: &Script<'_>, command: &Command) -> bool {
    !script.in_condition(command)
        && !script.around(command.block).any(|(_, b)| b.kind == crate::shell::BlockKind::Substitution)
}

/// Whether the commands behind a `cd` write into the folder.
fn fills(script: &Script<'_>, cd: &Command) -> bool {
    !filling(script, cd).is_empty()
}

/// The ends of the commands that copy into, or write files of, the folder that was entered, up to the next `cd`.
fn filling(script: &Script<'_>, cd: &Command) -> Vec<usize> {
    let behind = script.commands.iter().filter(|command| command.span.start > cd.span.end);
    let here = behind.take_while(|command| script.name(command) != "cd");
    let writes = |command: &&Command| {
        let words = script.words(command);
        let name = script.name(command);
        let copies = matches!(name.as_str(), "cp" | "mv" | "ln" | "install")
            && matches!(words.last(), Some(&"." | &"./"));
        let redirected = command.redirects.iter().any(|(operator, target)| {
            let target = script.get(target).trim_matches('"');
            script.get(operator).contains('>')
                && !target.starts_with(['/', '$', '&'])
                && target.parse::<u32>().is_err()
        });
        let unpacks = matches!(name.as_str(), "tar" | "unzip" | "wget" | "curl" | "git");
        (copies || redirected || unpacks)
            && !script.in_condition(command)
            && matches!(command.after.as_str(), "" | ";")
    };
    here.filter(writes).map(|command| command.span.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    const TEXT: &str = "base=$(cd \"$(dirname \"$0\")\" && pwd)\nmonth=$(cat \"$base/month\")\ncd \"$base/stage/$month\"\ncp \"$base\"/in/*.csv .\nls *.csv > MANIFEST\n";

    #[test]
    fn makes_the_folder_and_checks_every_step() {
        let case = TestCase::new("x.sh", TEXT, TestScene::new().folder("stage"))
            .fault(no_such("/srv/job/stage/2024-06"))
            .at(3);
        assert_eq!(
            case.healed(&UncheckedCd),
            TEXT.replace(
                "cd \"$base/stage/$month\"",
                "mkdir -p \"$base/stage/$month\" || exit 1\ncd \"$base/stage/$month\" || exit 1"
            )
            .replace("csv .\n", "csv . || exit 1\n")
            .replace("MANIFEST", "MANIFEST || exit 1")
        );
    }

    #[test]
    fn knows_a_folder_by_its_variable() {
        let text = "day=2031-01-02\nOUT=out/$day\ncd \"$OUT\"\ndate > stamp\n";
        let case = TestCase::new("x.sh", text, TestScene::new().folder("out"))
            .fault(no_such("out/2031-01-02"))
            .at(3);
        let healed = case.healed(&UncheckedCd);
        assert!(healed.contains("mkdir -p \"$OUT\" || exit 1\ncd \"$OUT\" || exit 1\n"), "{healed}");
    }

    #[test]
    fn leaves_folders_that_are_read_and_checked_ones_alone() {
        let silent = |text: &str| {
            TestCase::new("x.sh", text, TestScene::new()).fault(no_such("in/a")).at(1).silent(&UncheckedCd)
        };
        assert!(silent("cd in/a\nwc -l *\n"));
        assert!(silent("cd in/a || exit 1\ncp ../x .\n"));
    }
}
