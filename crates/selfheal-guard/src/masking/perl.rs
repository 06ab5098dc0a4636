//! Masking in Perl programs, by their statements.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};

use super::change::compiled;
use super::text::{Ends, Statement, bracketed, constants, differences, gone, statements};
use crate::finding::{at, whole};

/// Words that make a failure count.
const FAILS: &[&str] = &[
    "die", "croak", "confess", "exit 1", "exit(1", "exit 2", "exit(2", "exit $", "exit($", "throw",
    "rethrow", "BAIL_OUT", "LOGDIE", "abort",
];

/// Words in front of which a status is looked at.
const LOOKS: &[&str] = &["$?", "== 0", "!= 0", "$@", "or die", "|| die", ">> 8"];

/// What in a change hides a failure.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (before, after) = (&without_defined(before), &without_defined(after));
    let (old, new) = (statements(before, Ends::Semicolons), statements(after, Ends::Semicolons));
    let (lost, fresh) = differences(&old, &new);
    let mut out = evals(before, after);
    out.extend(alternatives(&lost, &fresh));
    out.extend(ends(&new, &fresh));
    out.extend(fewer(&old, &new));
    out.extend(gone((&lost, &fresh), &says));
    out.extend(constants(&old, &new));
    out
}

/// `defined(%h)` and `defined @a` asked whether something is in them, which is what they say themselves; since Perl 5.22 they
/// are errors.
fn without_defined(text: &str) -> String {
    static ASKED: OnceLock<Option<Regex>> = OnceLock::new();
    let asked = compiled(&ASKED, r"\bdefined\s*(?:\(\s*([%@]\$?\w+)\s*\)|([%@]\$?\w+))");
    asked.map_or_else(|| text.to_owned(), |asked| asked.replace_all(text, "$1$2").into_owned())
}

fn says(statement: &Statement) -> bool {
    ["print", "printf", "say", "warn", "carp", "}", "my ", "sleep", "log"]
        .iter()
        .any(|word| statement.bare.starts_with(word))
}

fn fails(text: &str) -> bool {
    FAILS.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|head| head.chars().next_back()).unwrap_or(' ');
            !before.is_alphanumeric() && !matches!(before, '_' | '$' | '@' | '%')
        })
    })
}

/// More `eval` blocks than before after which nothing fails.
fn evals(before: &str, after: &str) -> Vec<Finding> {
    let had = forgotten(before).len();
    let now = forgotten(after);
    now.iter()
        .skip(had)
        .map(|line| at("masking/swallowed", *line, Weight::Refuse, "an error is caught and forgotten"))
        .collect()
}

/// The lines of `eval` and `try` blocks after which nothing fails.
fn forgotten(text: &str) -> Vec<u32> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some((start, word)) = next_eval(text, from) {
        let open = text.get(start..).and_then(|rest| rest.find('{')).map_or(text.len(), |at| start + at);
        let (_, behind) = bracketed(text, open);
        // What looks at the error stands right behind the block: `or do { … }`, `die $@ if $@`, `catch { … }`.
        let near: String = text.get(behind..).unwrap_or_default().chars().take(400).collect();
        let handled = fails(&near)
            && (word == "try"
                || near.contains("$@")
                || near.contains("or ")
                || near.contains("||")
                || counts(&near));
        if !handled {
            out.push(text.get(..start).unwrap_or_default().matches('\n').count() as u32 + 1);
        }
        from = open + 1;
        if out.len() > 64 {
            break;
        }
    }
    out
}

/// `last if eval { …; 1 }; die if $try == 3;`
fn counts(near: &str) -> bool {
    near.contains(" if ") || near.contains(" unless ")
}

fn next_eval(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let rest = text.get(from..)?;
    let found = ["eval", "try"].into_iter().filter_map(|word| {
        let at = rest.match_indices(word).find(|(at, _)| {
            let before = rest.get(..*at).and_then(|head| head.chars().next_back()).unwrap_or(' ');
            let behind = rest.get(at + word.len()..).unwrap_or_default().trim_start();
            !before.is_alphanumeric() && before != '_' && behind.starts_with('{')
        });
        at.map(|(at, _)| (from + at, word))
    });
    found.min()
}

/// `x or Y` with a `Y` after which nothing fails, where there was none or a failing one.
fn alternatives(lost: &[&Statement], fresh: &[&Statement]) -> Vec<Finding> {
    let mut out = Vec::new();
    for statement in fresh {
        let Some((step, other)) = alternative(&statement.bare) else { continue };
        let values = other.starts_with(['\'', '"', '$', '@', '%', '[', '(', '{'])
            || other.chars().all(|c| c.is_ascii_digit());
        // `my $x = $y || 5` is a value, no handler.
        let is_value = statement.bare.contains(" = ") && values && other != "0" && other != "1";
        let known =
            lost.iter().any(|old| alternative(&old.bare).is_some_and(|(_, old)| old == other && !fails(old)));
        let another_way = other.contains('(')
            && !other.starts_with("warn")
            && !other.starts_with("print")
            && !other.starts_with("log");
        if fails(other)
            || is_value
            || known
            || another_way
            || step.starts_with("-d ")
            || step.starts_with("-e ")
        {
            continue;
        }
        if lost.iter().any(|old| old.bare.contains(step.trim())) || !other.is_empty() {
            out.push(at("masking/swallowed", statement.line, Weight::Refuse, "an error is only passed over"));
        }
    }
    out
}

/// The step and what runs when it fails.
fn alternative(text: &str) -> Option<(&str, &str)> {
    text.split_once(" or ").or_else(|| text.split_once("||")).map(|(step, other)| (step, other.trim()))
}

/// New ends that say success.
fn ends(new: &[Statement], fresh: &[&Statement]) -> Vec<Finding> {
    let mut out = Vec::new();
    for statement in fresh {
        let bare = statement.bare.as_str();
        let exit = bare.split([' ', '{', '(']).any(|word| word.trim_end_matches(';') == "exit");
        let success = exit && !fails(bare);
        if !success {
            continue;
        }
        // `unless (@files) { print "nothing to do\n"; exit 0; }`
        let around =
            new.iter().filter(|other| other.line + 3 >= statement.line && other.line <= statement.line);
        let near: Vec<&str> = around.map(|other| other.bare.as_str()).collect();
        let empty = near.iter().any(|text| {
            text.contains("unless (@")
                || text.contains("if (!@")
                || text.contains("@") && text.contains("== 0")
        });
        let tells = near
            .iter()
            .any(|text| text.starts_with("print") || text.starts_with("warn") || text.starts_with("say"));
        let (weight, rule) = if empty && tells {
            (Weight::Medium, "masking/nothing-to-do")
        } else {
            (Weight::Refuse, "masking/exit-zero")
        };
        out.push(at(rule, statement.line, weight, "the program ends with success"));
    }
    out
}

/// Fewer words that make failures count.
fn fewer(old: &[Statement], new: &[Statement]) -> Vec<Finding> {
    let count = |all: &[Statement], words: &[&str]| -> usize {
        all.iter().map(|s| words.iter().map(|word| s.bare.matches(word).count()).sum::<usize>()).sum()
    };
    let dies = |all: &[Statement]| all.iter().filter(|s| fails(&s.bare)).count();
    let mut out = Vec::new();
    if dies(new) < dies(old) {
        out.push(whole("masking/check-removed", Weight::Refuse, "a `die` or a failing exit is gone"));
    } else if count(new, LOOKS) < count(old, LOOKS) {
        out.push(whole(
            "masking/status-ignored",
            Weight::Refuse,
            "the status of a step is no longer looked at",
        ));
    }
    out
}
