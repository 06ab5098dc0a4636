//! # A program for another awk
//!
//! ## What it finds
//! A program uses functions that only GNU awk has (`gensub`, `strftime`, `asort`, …), and `awk` is another one here.
//!
//! ## Why it fails
//! `awk` is the name of several programs: GNU awk, mawk, that of busybox. What is not in the standard is not in all of them.
//!
//! ## Fix
//! The program is run by `gawk`, where that is on this machine.
//!
//! ## Example
//! ```sh
//! awk '{ print gensub(/,/, ".", "g", $2) }' list
//! ```
//! ```sh
//! gawk '{ print gensub(/,/, ".", "g", $2) }' list
//! ```
//!
//! ## Safety
//! Only programs that use such a function, and only where `gawk` is there. Nothing is installed.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice};
use crate::text;

rule!(AwkDialect, "awk_dialect", Safe, propose);

/// Functions that only GNU awk has; from its manual, "Built-in Functions".
const GNU: &[&str] = &[
    "gensub", "strftime", "mktime", "systime", "asort", "asorti", "patsplit", "strtonum", "and", "or", "xor",
    "lshift", "rshift", "compl", "isarray", "typeof",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().find_map(|fault| match fault {
        Fault::Other { message } | Fault::Syntax { message, .. } | Fault::BadValue { message, .. } => {
            let undefined = message.contains("never defined")
                || message.contains("undefined function")
                || message.contains("not defined");
            GNU.iter().find(|name| undefined && text::whole_words(message, name).next().is_some()).copied()
        }
        Fault::UndefinedName { name } => GNU.iter().find(|known| *known == name).copied(),
        _ => None,
    });
    let gawk = case.scene.which("gawk").into_iter().next();
    let (Some(function), Some(gawk)) = (told, gawk) else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let parts: Vec<(Range<usize>, String)> = script
        .commands
        .iter()
        .filter(|command| matches!(script.name(command).as_str(), "awk" | "mawk" | "nawk"))
        .filter(|command| {
            script.words(command).iter().any(|word| {
                GNU.iter().any(|name| text::whole_words(word, name).any(|at| called(word, at + name.len())))
            })
        })
        .filter_map(|command| command.words.first())
        .map(|name| (name.clone(), "gawk".to_owned()))
        .collect();
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let number = script.line_of(first.start);
    Draft::new(
        "awk_dialect",
        format!("line {number}: {function} is a function of GNU awk, and awk is another one here"),
        "run the program by gawk",
    )
    .evidence(format!("GNU awk is {}", gawk.display()))
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: gawk"))
    .done()
    .into_iter()
    .collect()
}

fn called(word: &str, at: usize) -> bool {
    word.get(at..).is_some_and(|rest| rest.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str, scene: TestScene) -> TestCase {
        let message = "mawk: line 1: function gensub never defined".to_owned();
        TestCase::new("x.sh", &format!("{line}\n"), scene).fault(Fault::Other { message }).at(1)
    }

    fn with_gawk() -> TestScene {
        TestScene::new().command("gawk", "/usr/bin/gawk")
    }

    #[test]
    fn runs_such_programs_by_gawk() {
        assert_eq!(
            case("awk '{ print gensub(/a/, \"b\", 1) }' l; awk '{ print $1 }' l", with_gawk())
                .healed(&AwkDialect),
            "gawk '{ print gensub(/a/, \"b\", 1) }' l; awk '{ print $1 }' l\n"
        );
        assert_eq!(
            case("x=$(mawk 'BEGIN { print strftime(\"%F\") }')", with_gawk()).healed(&AwkDialect),
            "x=$(gawk 'BEGIN { print strftime(\"%F\") }')\n"
        );
    }

    #[test]
    fn needs_gawk_and_such_a_function() {
        assert!(case("awk '{ print gensub(/a/, \"b\", 1) }' l", TestScene::new()).silent(&AwkDialect));
        assert!(case("awk '{ print $1 }' l", with_gawk()).silent(&AwkDialect));
    }
}
