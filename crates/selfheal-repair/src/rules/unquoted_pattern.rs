//! # find gets file names instead of its pattern
//!
//! ## What it finds
//! A pattern of `find` (`-name *.log`) without quotes, where the folder that the job stands in has files that fit it: "paths
//! must precede expression", or only one name is searched for.
//!
//! ## Why it fails
//! The shell replaces the pattern by the names before `find` sees it. It works as long as no file there fits.
//!
//! ## Fix
//! The patterns are quoted, so that `find` gets them.
//!
//! ## Example
//! ```sh
//! find . -name *.log -mtime +30
//! ```
//! ```sh
//! find . -name '*.log' -mtime +30
//! ```
//!
//! ## Safety
//! Only words behind `-name`, `-iname`, `-path` and the like. Variables in a pattern stay variables.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, has_pattern, splice};

rule!(UnquotedPattern, "unquoted_pattern", Safe, propose);

/// The tests of find that take a pattern.
const TESTS: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname"];

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::Syntax { message, .. } | Fault::Other { message } | Fault::BadValue { message, .. } => {
            message.contains("paths must precede expression")
                || message.contains("unknown primary or operator")
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| told && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for command in script.commands.iter().filter(|command| script.name(command) == "find") {
        for pair in command.words.windows(2) {
            let [test, pattern] = pair else { continue };
            let word = script.get(pattern);
            if TESTS.contains(&script.get(test)) && has_pattern(word) && !word.contains(['\'', '"', '\\']) {
                let quote = if word.contains('$') { '"' } else { '\'' };
                parts.push((pattern.clone(), format!("{quote}{word}{quote}")));
            }
        }
    }
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let (number, word) = (script.line_of(first.start), script.get(first).to_owned());
    Draft::new(
        "unquoted_pattern",
        format!("line {number}: the shell replaces {word} by names of files before find sees it"),
        "quote the patterns of find",
    )
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: quoted patterns"))
    .done()
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        let fault =
            Fault::Syntax { near: Some("a.log".into()), message: "paths must precede expression".into() };
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new()).fault(fault).at(1)
    }

    #[test]
    fn quotes_patterns() {
        assert_eq!(
            case("find . -name *.log -type f").healed(&UnquotedPattern),
            "find . -name '*.log' -type f\n"
        );
        assert_eq!(
            case("find \"$d\" \\( -iname *.jpg -o -name $PRE*.png \\)").healed(&UnquotedPattern),
            "find \"$d\" \\( -iname '*.jpg' -o -name \"$PRE*.png\" \\)\n"
        );
    }

    #[test]
    fn leaves_quoted_ones_and_starting_points_alone() {
        assert!(case("find . -name '*.log' -o -name \\*.gz").silent(&UnquotedPattern));
        assert!(case("find logs/* -name x").silent(&UnquotedPattern));
    }
}
