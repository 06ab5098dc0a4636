//! # A template of mktemp with too few X
//!
//! ## What it finds
//! `mktemp` refuses its template: "too few X's in template".
//!
//! ## Why it fails
//! GNU wants at least three X at the end, BSD and busybox want six; on a Mac, `-t NAME` needs none at all.
//!
//! ## Fix
//! The template ends with six X.
//!
//! ## Example
//! ```sh
//! work=$(mktemp -d -t nightly)
//! ```
//! ```sh
//! work=$(mktemp -d -t nightly.XXXXXX)
//! ```
//!
//! ## Safety
//! The folder and the beginning of the name stay.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice};

rule!(TemporaryTemplate, "temporary_template", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::Other { message } | Fault::BadValue { message, .. } | Fault::Syntax { message, .. } => {
            message.contains("too few X")
                || (message.contains("mktemp") && message.contains("Invalid argument"))
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| told && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let parts: Vec<(Range<usize>, String)> =
        script.commands.iter().filter_map(|command| template(&script, command)).collect();
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let number = script.line_of(first.start);
    Draft::new(
        "temporary_template",
        format!("line {number}: the template of mktemp has too few X for the mktemp of this machine"),
        "end the template with six X",
    )
    .rewrite(&file, splice(&file.text, parts), format!("line {number}: six X"))
    .done()
    .into_iter()
    .collect()
}

/// The template of a `mktemp`, with six X at its end.
fn template(script: &Script<'_>, command: &Command) -> Option<(Range<usize>, String)> {
    let span =
        command.words.last().filter(|_| script.name(command) == "mktemp" && command.words.len() > 1)?;
    let word = script.get(span);
    let quote = word.chars().last().filter(|c| matches!(c, '"' | '\''));
    let bare = quote.map_or(word, |quote| word.strip_suffix(quote).unwrap_or(word));
    let stem = bare.trim_end_matches('X');
    let plain = !word.starts_with('-') && !stem.ends_with('/') && bare.len() - stem.len() < 6;
    let parting = if bare.len() > stem.len() || stem.is_empty() { "" } else { "." };
    let quote = quote.map(String::from).unwrap_or_default();
    plain.then(|| (span.clone(), format!("{stem}{parting}XXXXXX{quote}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        let fault = Fault::Other { message: "mktemp: too few X's in template ‘a’".into() };
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new()).fault(fault).at(1)
    }

    #[test]
    fn ends_the_template_with_six() {
        assert_eq!(
            case("t=$(mktemp -d ./stage.XX)").healed(&TemporaryTemplate),
            "t=$(mktemp -d ./stage.XXXXXX)\n"
        );
        assert_eq!(
            case("t=$(mktemp -t \"$name\")").healed(&TemporaryTemplate),
            "t=$(mktemp -t \"$name.XXXXXX\")\n"
        );
    }

    #[test]
    fn leaves_whole_templates_alone() {
        assert!(case("t=$(mktemp); mktemp -d; mktemp /tmp/a.XXXXXX").silent(&TemporaryTemplate));
        let other =
            TestCase::new("x.sh", "mktemp a.XX\n", TestScene::new()).fault(Fault::SilentExit { code: 1 });
        assert!(other.silent(&TemporaryTemplate));
    }
}
