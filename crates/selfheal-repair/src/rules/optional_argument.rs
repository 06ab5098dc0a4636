//! # An optional argument under `set -u`
//!
//! ## What it finds
//! `$2` is not given, the script runs with `set -u`, and the script itself says what happens without it: it tests the value for
//! being empty, gives a default later, or its usage text has the argument in square brackets.
//!
//! ## Why it fails
//! Under `set -u` an argument that was not given is an error before the script can ask whether it was.
//!
//! ## Fix
//! `${2:-}`: empty when it is not given.
//!
//! ## Example
//! ```sh
//! label=$2
//! [ -n "$label" ] || label=daily
//! ```
//! ```sh
//! label=${2:-}
//! [ -n "$label" ] || label=daily
//! ```
//!
//! ## Safety
//! An argument that the script needs still fails. `set -u` stays.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice};
use crate::text;

rule!(OptionalArgument, "optional_argument", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let number = case.faults().find_map(|fault| match fault {
        Fault::UnsetVariable { name } => name.trim_start_matches('$').parse::<u32>().ok(),
        _ => None,
    });
    let Some(number) = number.filter(|number| (1..10).contains(number)) else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let Some(why) = optional(&script, number) else { return Vec::new() };
    let parts = uses(&file.text, number);
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let line = script.line_of(first.start);
    Draft::new(
        "optional_argument",
        format!("line {line}: argument {number} was not given, which set -u makes an error before the script can ask"),
        "take the argument as empty when it is not given",
    )
    .evidence(why)
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: ${{{number}:-}}"))
    .done()
    .into_iter()
    .collect()
}

/// Why an argument is optional: what the script says or does about it.
fn optional(script: &Script<'_>, number: u32) -> Option<String> {
    let plain = [format!("${number}"), format!("${{{number}}}")];
    let names: Vec<&str> = script
        .assignments()
        .filter(|(_, value, _)| plain.iter().any(|one| script.get(value).trim_matches('"') == one))
        .map(|(name, ..)| name)
        .collect();
    let wanted: Vec<String> =
        names.iter().flat_map(|name| [format!("${name}"), format!("${{{name}}}")]).chain(plain).collect();
    let asked = script.commands.iter().find_map(|command| {
        let words = script.words(command);
        let test = matches!(words.first(), Some(&"[" | &"[[" | &"test"));
        let pair = words.windows(2).any(|pair| matches!(pair, [op, value] if matches!(*op, "-z" | "-n") && wanted.iter().any(|one| value.trim_matches('"') == one)));
        (test && pair && !gives_up(script, command.span.end)).then(|| script.line_of(command.span.start))
    });
    let later = names.iter().find(|name| {
        script.text.contains(&format!("${{{name}:-")) || script.text.contains(&format!("${{{name}:="))
    });
    match (asked, later) {
        (Some(line), _) => Some(format!("line {line} asks whether it is empty")),
        (None, Some(name)) => Some(format!("the script has a default for {name}")),
        (None, None) => {
            usage(script.text, number).map(|line| format!("line {line} says that it is optional"))
        }
    }
}

/// Whether a script ends right behind a test: the argument is needed then.
fn gives_up(script: &Script<'_>, from: usize) -> bool {
    let rest: String = script.text.get(from..).unwrap_or_default().chars().take(160).collect();
    let next: String = rest.lines().take(2).collect::<Vec<_>>().join(" ");
    let ends = |word: &str| text::whole_words(&next, word).next().is_some();
    next.contains(">&2") || ends("exit") || ends("die") || ends("usage") || ends("fail")
}

/// The line of the usage text that has the argument in square brackets: the script's name, then the words.
fn usage(text: &str, number: u32) -> Option<u32> {
    text.lines().zip(1_u32..).take(40).find_map(|(line, at)| {
        let comment = line.trim_start().strip_prefix('#')?;
        let words: Vec<&str> = comment
            .split_whitespace()
            .skip_while(|word| !word.contains(".sh") && !word.ends_with("$0"))
            .collect();
        let word = words.get(number as usize)?;
        (word.starts_with('[') && word.contains(']')).then_some(at)
    })
}

/// The bare uses of an argument, with an empty default.
fn uses(text: &str, number: u32) -> Vec<(Range<usize>, String)> {
    let new = format!("${{{number}:-}}");
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let short = format!("${number}");
    for (at, _) in text.match_indices(&short) {
        let escaped = text.get(..at).is_some_and(|before| before.ends_with('\\') || before.ends_with('$'));
        let next = text.get(at + short.len()..).and_then(|rest| rest.chars().next());
        if !escaped && !in_comment(text, at) && !next.is_some_and(|c| c.is_ascii_digit()) {
            parts.push((at..at + short.len(), new.clone()));
        }
    }
    let long = format!("${{{number}}}");
    parts.extend(
        text.match_indices(&long)
            .filter(|(at, _)| !in_comment(text, *at))
            .map(|(at, _)| (at..at + long.len(), new.clone())),
    );
    parts
}

fn in_comment(text: &str, at: usize) -> bool {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    text.get(start..at).is_some_and(|lead| lead.trim_start().starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::UnsetVariable { name: "$2".into() }).at(2)
    }

    #[test]
    fn takes_an_argument_that_the_script_asks_for_as_empty() {
        let text = "set -eu\nlabel=$2\nif [ -z \"$label\" ]; then\n  label=daily\nfi\n";
        assert!(case(text).healed(&OptionalArgument).contains("\nlabel=${2:-}\n"));
        let usage = "# x.sh FOLDER [LABEL]\nset -u\ntar cf \"a$2.tar\" \"$1\"\n";
        assert!(case(usage).healed(&OptionalArgument).contains("\"a${2:-}.tar\" \"$1\""));
    }

    #[test]
    fn an_argument_that_is_needed_still_fails() {
        assert!(case("set -u\ncp \"$1\" \"$2\"\n").silent(&OptionalArgument));
        assert!(
            case("set -u\nif [ -z \"$2\" ]; then\n  echo usage >&2; exit 2\nfi\n").silent(&OptionalArgument)
        );
        assert!(case("# x.sh FROM TO\nset -u\ncp $1 $2\n").silent(&OptionalArgument));
    }
}
