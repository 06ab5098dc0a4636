//! # A value with slashes in a substitution of sed
//!
//! ## What it finds
//! `sed "s/…/$VALUE/"` where the value holds the character that parts the substitution: "unknown option to `s'".
//!
//! ## Why it fails
//! The shell puts the value into the program of sed, and its first slash ends the replacement.
//!
//! ## Fix
//! The substitution is parted by a character that stands neither in it nor in the values.
//!
//! ## Example
//! ```sh
//! sed "s/@ROOT@/$ROOT/g" site.tmpl
//! ```
//! ```sh
//! sed "s|@ROOT@|$ROOT|g" site.tmpl
//! ```
//!
//! ## Safety
//! Only substitutions that hold a variable. The character must be absent from the whole program and from the arguments that
//! sed got in the failing run.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice};

rule!(SedDelimiter, "sed_delimiter", Safe, propose);

/// What sed says.
const SAID: &[&str] =
    &["unknown option to", "unterminated `s'", "bad flag in substitute", "unescaped newline"];
/// Characters that may part a substitution, the usual ones first.
const PARTING: &[char] = &['|', '#', ',', '~', '%', '@', ';', '\u{1}'];

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::Syntax { message, .. } | Fault::Other { message } | Fault::BadValue { message, .. } => {
            SAID.iter().any(|said| message.contains(said))
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| told && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let got = case.report.command.as_ref().map(|command| command.words.join(" ")).unwrap_or_default();
    let mut parts = Vec::new();
    for command in script.commands.iter().filter(|command| script.name(command) == "sed") {
        if line.is_none_or(|line| script.covers(command, line)) {
            parts.extend(substitutions(&script, command, &got));
        }
    }
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let number = script.line_of(first.start);
    Draft::new(
        "sed_delimiter",
        format!("line {number}: a value holds the slash that parts the substitution of sed"),
        "part the substitution by a character that no value holds",
    )
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {number}: another character parts the substitution"),
    )
    .done()
    .into_iter()
    .collect()
}

fn substitutions(script: &Script<'_>, command: &Command, got: &str) -> Vec<(Range<usize>, String)> {
    let all = script.words(command).join(" ");
    // What sed got holds the old character everywhere; only the others are asked for.
    let Some(new) = PARTING.iter().find(|c| !all.contains(**c) && !got.contains(**c)) else {
        return Vec::new();
    };
    let words = command.words.iter().skip(1);
    words.filter_map(|span| Some((span.clone(), parted(script.get(span), *new)?))).collect()
}

/// A word of substitutions, of which one holds a variable, parted by another character.
fn parted(word: &str, new: char) -> Option<String> {
    let quote = word.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = quote.map_or(Some(word), |quote| word.strip_prefix(quote)?.strip_suffix(quote))?;
    let commands: Option<Vec<String>> = inner.split(';').map(|command| one_parted(command, new)).collect();
    let quote = quote.map(String::from).unwrap_or_default();
    inner.contains('$').then(|| Some(format!("{quote}{}{quote}", commands?.join(";"))))?
}

/// One substitution, parted by another character.
fn one_parted(command: &str, new: char) -> Option<String> {
    let lead = command.len() - command.trim_start().len();
    let body = command.trim_start().strip_prefix("s/")?;
    let slashes: Vec<usize> = unescaped(body);
    let [middle, end] = slashes.as_slice() else { return None };
    let (old, rest) = (body.get(..*middle)?, body.get(middle + 1..*end)?);
    let flags = body.get(end + 1..)?;
    let plain = flags.chars().all(|c| c.is_ascii_alphanumeric());
    // A slash that was written for the old form needs its backslash no more.
    let bare = |text: &str| text.replace("\\/", "/");
    plain.then(|| format!("{}s{new}{}{new}{}{new}{flags}", " ".repeat(lead), bare(old), bare(rest)))
}

/// Where slashes stand that part: not escaped, not inside of `${…}` or `$(…)`.
fn unescaped(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut depth, mut escaped, mut before) = (0_u32, false, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' | '(' if before == '$' || depth > 0 => depth += 1,
            '}' | ')' if depth > 0 => depth -= 1,
            '/' if depth == 0 => found.push(at),
            _ => {}
        }
        before = c;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        let fault = Fault::BadValue { value: Some(String::new()), message: "unknown option to `s'".into() };
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new()).fault(fault).at(1)
    }

    #[test]
    fn parts_substitutions_by_another_character() {
        assert_eq!(
            case("sed -e \"s/@A@/$A/\" -e 's/x/y/' t > u").healed(&SedDelimiter),
            "sed -e \"s|@A@|$A|\" -e 's/x/y/' t > u\n"
        );
        assert_eq!(
            case("x=$(echo \"$p\" | sed \"s/^${HOME%/}\\/a/~/g\")").healed(&SedDelimiter),
            "x=$(echo \"$p\" | sed \"s|^${HOME%/}/a|~|g\")\n"
        );
    }

    #[test]
    fn leaves_substitutions_without_values_and_others_alone() {
        assert!(case("sed 's/a/b/x' t").silent(&SedDelimiter));
        assert!(case("sed \"s|a|$B|\" t").silent(&SedDelimiter));
        assert!(case("sed \"/$A/s/a/b/\" t").silent(&SedDelimiter));
    }
}
