//! What the report on the failure says against a repair: it mends the one value that failed and not the kind, or a program
//! that only passes things through stands where a step failed.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_core::report::Report;
use selfheal_syntax::shell::Script;
use selfheal_syntax::{Language, diff};

use crate::finding::at;
use crate::masking::cuts;
use crate::size::Change;

/// Words in front of a number in a message that say that it is no value of the job.
const NO_VALUE: &[&str] = &[
    "line", "code", "status", "errno", "error", "http", "http/1.1", "column", "char", "position", "port",
    "pid",
];

/// Programs that do nothing with what they get, or nothing at all.
const PASSES_THROUGH: &[&str] = &["cat", "true", ":", "echo", "printf", "tee"];

/// What the report says against a change of a text.
pub fn against(report: &Report, language: Language, change: Change<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    out.extend(one_value(report, change));
    out.extend(cut_value(report, change));
    if language == Language::Shell {
        out.extend(stands_in(report, change));
    }
    if language == Language::Perl {
        out.extend(unread_beside(report, change));
    }
    out
}

/// Perl looks for modules in `@INC` only, and no longer in the current folder. A `do 'file'` fails for the same cause, but
/// without a word: mending only the module that was reported leaves what the file says unread.
fn unread_beside(report: &Report, change: Change<'_>) -> Option<Finding> {
    let searched = report.core_error.contains("@INC");
    let looked_for = ["use lib", "@INC", "FindBin", "PERL_USE_UNSAFE_INC"];
    let everywhere = looked_for.iter().any(|word| change.after.contains(word));
    let mut lines = (1_u32..).zip(change.after.lines()).filter(|_| searched && !everywhere);
    let (line, file) = lines.find_map(|(line, text)| Some((line, silently_done(text)?.to_owned())))?;
    let why = format!("`do '{file}'` fails for the same cause without a word, and is left as it was");
    Some(at("masking/same-cause", line, Weight::Refuse, why))
}

/// The file of a `do 'file'` that is looked for in `@INC`, where nothing asks whether it was read.
fn silently_done(text: &str) -> Option<&str> {
    let code = text.split(" #").next().unwrap_or_default().trim();
    let rest = code.strip_prefix("do ")?.trim_start();
    let inner = rest.strip_prefix(['\'', '"'])?;
    let (file, behind) = inner.split_once(['\'', '"'])?;
    let relative = !file.starts_with(['/', '.', '$', '~']) && !file.is_empty();
    (relative && !behind.contains("or ") && !behind.contains("||")).then_some(file)
}

/// A number or date that stands in the message and now in the script: another input fails as before.
fn one_value(report: &Report, change: Change<'_>) -> Option<Finding> {
    let values = values_of(&report.core_error);
    let known = tokens(change.before);
    diff::hunks(change.before, change.after).iter().find_map(|hunk| {
        let lines = hunk.new.clone().zip(&hunk.added);
        lines.into_iter().find_map(|(line, text)| {
            let code = text.split(" #").next().unwrap_or_default();
            let value =
                tokens(code).into_iter().find(|token| values.contains(token) && !known.contains(token))?;
            let why = format!("it mends the one value `{value}` that failed, not its kind");
            Some(at("masking/one-value", line, Weight::Refuse, why))
        })
    })
}

/// A value that could not be read is cut off at the sign that was in the way: what stood behind it is gone.
fn cut_value(report: &Report, change: Change<'_>) -> Option<Finding> {
    let signs: Vec<char> =
        [',', '.', ';'].into_iter().filter(|sign| in_value(&report.core_error, *sign)).collect();
    diff::hunks(change.before, change.after).iter().find_map(|hunk| {
        let old = hunk.removed.join("\n");
        hunk.new.clone().zip(&hunk.added).find_map(|(line, text)| {
            let sign = signs.iter().find(|sign| cuts(text, **sign) && !cuts(&old, **sign))?;
            let why = format!("it cuts the value at `{sign}`: what stands behind it is lost");
            Some(at("masking/value-cut", line, Weight::Refuse, why))
        })
    })
}

/// Whether a number in a message has a sign between its digits.
fn in_value(message: &str, sign: char) -> bool {
    let chars: Vec<char> = message.chars().collect();
    chars.windows(3).any(|three| {
        matches!(three, [before, it, behind] if *it == sign && before.is_ascii_digit() && behind.is_ascii_digit())
    })
}

/// Numbers, times and dates in a message, as far as they are values.
fn values_of(message: &str) -> BTreeSet<String> {
    let words: Vec<&str> = message.split_whitespace().collect();
    let mut out = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).map(|word| word.to_lowercase());
        let is_value = !before.is_some_and(|word| NO_VALUE.contains(&word.trim_matches(['[', '(', ':'])));
        if is_value {
            out.extend(tokens(word));
        }
    }
    out
}

/// Runs of digits with the signs that stand in numbers, times and dates; at least two characters.
fn tokens(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-');
    let mut out = BTreeSet::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || part(c) || c == '_')) {
        let token = word.trim_matches(|c: char| !c.is_ascii_digit());
        if token.len() > 1 && word.chars().all(part) {
            out.insert(token.to_owned());
        }
    }
    out
}

/// The program that failed is gone from the script, and one that passes its input through, or does nothing, is new.
fn stands_in(report: &Report, change: Change<'_>) -> Option<Finding> {
    let words = report.command.as_ref().map(|command| command.words.as_slice()).unwrap_or_default();
    let failed = words.first().filter(|name| !PASSES_THROUGH.contains(&name.as_str()))?;
    let (old, new) = (Script::parse(change.before).ok()?, Script::parse(change.after).ok()?);
    let count =
        |script: &Script, name: &str| script.commands().iter().filter(|command| command.is(name)).count();
    if count(&old, failed) == 0 || count(&new, failed) > 0 {
        return None;
    }
    // A tool that took its place under another name does its work; then nothing is said here.
    let fresh: Vec<String> = new.commands().iter().filter_map(|command| command.name()).collect();
    let known: BTreeSet<String> = old.commands().iter().filter_map(|command| command.name()).collect();
    if fresh.iter().any(|name| !known.contains(name) && !PASSES_THROUGH.contains(&name.as_str())) {
        return None;
    }
    let name = PASSES_THROUGH.iter().find(|name| count(&new, name) > count(&old, name))?;
    let line = new.commands().iter().rfind(|command| command.is(name)).map_or(1, |command| command.lines.0);
    let why = format!("`{name}` stands where `{failed}` failed, and does not do its work");
    Some(at("masking/stands-in", line, Weight::Refuse, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_perl_does_not_read_any_more_is_seen() {
        assert_eq!(silently_done("do 'own.pl';   # settings"), Some("own.pl"));
        for text in ["do './own.pl';", "do $own;", "do 'own.pl' or die;", "do { 1 } while (0);", "print 'do'"]
        {
            assert_eq!(silently_done(text), None, "{text}");
        }
    }

    #[test]
    fn a_sign_in_a_number_of_a_message_is_seen() {
        assert!(in_value("not a price: '12,50'", ',') && !in_value("no such file, sorry", ','));
    }

    #[test]
    fn numbers_of_a_message_are_values_unless_their_word_says_otherwise() {
        let values =
            values_of("job.sh: line 12: 08: value too great for base (error token is \"08\") exit status 23");
        assert_eq!(values, BTreeSet::from(["08".to_owned()]));
        assert_eq!(values_of("invalid date '2024-02-30'"), BTreeSet::from(["2024-02-30".to_owned()]));
        assert!(values_of("[Errno 13] Permission denied: 'a2/b3'").is_empty());
    }
}
