//! # xargs runs its command without anything to work on
//!
//! ## What it finds
//! A list that is piped into `xargs` is empty, and the command is run once without any name: "missing operand", "no input
//! files", a usage message.
//!
//! ## Why it fails
//! Without `-r`, the `xargs` of GNU runs its command once even when there is nothing in the list.
//!
//! ## Fix
//! `xargs -r`: with nothing in the list nothing is run.
//!
//! ## Example
//! ```sh
//! ls old | xargs rm -v
//! ```
//! ```sh
//! ls old | xargs -r rm -v
//! ```
//!
//! ## Safety
//! Commands that are run with names run as before, and their failures still count. An `xargs` that takes its names into the
//! middle (`-I`) runs nothing for an empty list anyway, and stays.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice};

rule!(NothingForXargs, "nothing_for_xargs", Safe, propose);

/// What commands say that got no name.
const SAID: &[&str] = &[
    "missing operand",
    "missing file operand",
    "no input files",
    "too few arguments",
    "missing argument",
    "usage:",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let empty = case.faults().any(|fault| match fault {
        Fault::BadValue { message, .. } | Fault::Other { message } => {
            let message = message.to_lowercase();
            SAID.iter().any(|said| message.contains(said))
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| empty && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let parts: Vec<(Range<usize>, String)> = script
        .commands
        .iter()
        .filter(|command| {
            line.is_none_or(|line| script.covers(command, line)) && takes_nothing(&script, command)
        })
        .filter_map(|command| command.words.first())
        .map(|name| (name.end..name.end, " -r".to_owned()))
        .collect();
    let Some(number) = parts.first().map(|(span, _)| script.line_of(span.start)) else { return Vec::new() };
    Draft::new(
        "nothing_for_xargs",
        format!("line {number}: the list is empty, and xargs runs its command without any name"),
        "run nothing for an empty list",
    )
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: xargs -r"))
    .done()
    .into_iter()
    .collect()
}

/// Whether a command is an `xargs` that would run something for an empty list.
fn takes_nothing(script: &Script<'_>, command: &Command) -> bool {
    let words = script.words(command);
    let own = words.iter().skip(1).take_while(|word| word.starts_with('-'));
    let careful = |word: &&str| {
        matches!(*word, "--no-run-if-empty" | "--replace")
            || word.starts_with("-I")
            || word.starts_with("-i")
            || (!word.starts_with("--") && word.contains('r'))
    };
    script.name(command) == "xargs"
        && command.before.starts_with('|')
        && words.len() > 1
        && !own.into_iter().any(careful)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        let fault = Fault::BadValue { value: Some(String::new()), message: "rm: missing operand".into() };
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new()).fault(fault).at(1)
    }

    #[test]
    fn runs_nothing_for_an_empty_list() {
        assert_eq!(case("ls a | xargs rm -v").healed(&NothingForXargs), "ls a | xargs -r rm -v\n");
        assert_eq!(
            case("find a -print0 | xargs -0 gzip").healed(&NothingForXargs),
            "find a -print0 | xargs -r -0 gzip\n"
        );
    }

    #[test]
    fn leaves_others_alone() {
        assert!(case("ls a | xargs -r rm").silent(&NothingForXargs));
        assert!(case("ls a | xargs -I{} mv {} b").silent(&NothingForXargs));
        assert!(case("rm $LIST").silent(&NothingForXargs));
    }
}
