//! # git has nothing to commit
//!
//! ## What it finds
//! `git commit` ends the job because nothing has changed since the last commit.
//!
//! ## Why it fails
//! "nothing to commit" is exit code 1, and strict mode takes every code but 0 for a failure.
//!
//! ## Fix
//! It is asked first whether something is there to commit.
//!
//! ## Example
//! ```sh
//! git add -A
//! git commit -qm nightly
//! ```
//! ```sh
//! git add -A
//! git diff --cached --quiet || git commit -qm nightly
//! ```
//!
//! ## Safety
//! A commit that is refused by a hook, or cannot be made for another reason, still fails.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice};

rule!(NothingToCommit, "nothing_to_commit", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let silent = case.faults().any(|fault| match fault {
        Fault::SilentExit { code: 1 } => true,
        Fault::Other { message } => {
            message.contains("nothing to commit")
                || message.contains("nothing added to commit")
                || message.contains("working tree clean")
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| silent && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let ended = |command: &Command| line.is_none_or(|line| script.covers(command, line));
    let parts: Vec<(Range<usize>, String)> = script
        .commands
        .iter()
        .filter(|command| ended(command) && !script.in_condition(command))
        .filter_map(|command| asked_first(&script, command))
        .collect();
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let number = script.line_of(first.start);
    Draft::new(
        "nothing_to_commit",
        format!("line {number}: nothing has changed since the last commit, and git answers that with 1"),
        "commit only where something changed",
    )
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {number}: asks first whether there is something to commit"),
    )
    .done()
    .into_iter()
    .collect()
}

/// The question that goes before a commit: of the index, or of the files with `-a`.
fn asked_first(script: &Script<'_>, command: &Command) -> Option<(Range<usize>, String)> {
    let words = script.words(command);
    let at = words
        .iter()
        .position(|word| *word == "commit")
        .filter(|_| script.name(command) == "git" && command.assigns.is_empty())?;
    let rest = words.get(at + 1..)?;
    let other = |word: &&&str| matches!(**word, "--amend" | "--allow-empty" | "--dry-run" | "--");
    if rest.iter().any(|word| other(&word)) {
        return None;
    }
    let all = rest.iter().any(|word| {
        *word == "--all" || (word.starts_with('-') && !word.starts_with("--") && word.contains('a'))
    });
    // Options of git itself say where the repository is; `-c` says nothing that the question needs.
    let mut place = String::new();
    let mut options = words.get(1..at)?.iter();
    while let Some(word) = options.next() {
        match *word {
            "-C" | "--git-dir" | "--work-tree" => place.push_str(&format!(" {word} {}", options.next()?)),
            "-c" => drop(options.next()?),
            word if word.starts_with("--git-dir=") || word.starts_with("--work-tree=") => {
                place.push_str(&format!(" {word}"))
            }
            _ => {}
        }
    }
    let what = if all { "diff HEAD --quiet" } else { "diff --cached --quiet" };
    Some((command.span.start..command.span.start, format!("git{place} {what} || ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new())
            .fault(Fault::SilentExit { code: 1 })
            .at(1)
    }

    #[test]
    fn asks_first() {
        assert_eq!(
            case("git -C repo -c user.name=k commit -q -m \"night\"").healed(&NothingToCommit),
            "git -C repo diff --cached --quiet || git -C repo -c user.name=k commit -q -m \"night\"\n"
        );
        assert_eq!(
            case("git commit -qam x").healed(&NothingToCommit),
            "git diff HEAD --quiet || git commit -qam x\n"
        );
    }

    #[test]
    fn leaves_other_commits_alone() {
        assert!(case("git commit --amend -m x").silent(&NothingToCommit));
        assert!(case("git commit -m x || exit 3").silent(&NothingToCommit));
        assert!(case("git push").silent(&NothingToCommit));
    }
}
