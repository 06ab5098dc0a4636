//! Masking in Ruby programs, by their statements.

use selfheal_core::admission::{Finding, Weight};

use super::text::{Ends, Statement, constants, differences, gone, statements};
use crate::finding::{at, whole};

/// Beginnings of words that make a failure count.
const FAILS: &[&str] = &[
    "raise",
    "abort",
    "fail",
    "throw",
    "exit 1",
    "exit(1",
    "exit! 1",
    "exit!(1",
    "exit false",
    "exit(false",
    "exit $",
    "exit($",
    "exit status",
    "exit(status",
];

/// What only says something.
const SAYS: &[&str] = &[
    "puts",
    "warn",
    "print",
    "p ",
    "pp ",
    "logger",
    "log.",
    "Rails.logger",
    "sleep",
    "$stderr",
    "STDERR",
    "nil",
    "next",
    "true",
    "false",
    "[]",
    "{}",
    "return",
    "break",
    "0",
];

/// Ways to look at the status of a command, or to let it count.
const LOOKS: &[&str] = &[
    "exception: true",
    "$?",
    "exitstatus",
    ".success?",
    "or raise",
    "|| raise",
    "or abort",
    "|| abort",
    "save!",
    "create!",
    "update!",
    "fetch(",
    "validate!",
];

/// What in a change hides a failure.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (old, new) = (statements(before, Ends::Lines), statements(after, Ends::Lines));
    let (lost, fresh) = differences(&old, &new);
    let mut out = rescues(&old, &new);
    out.extend(fresh.iter().filter_map(|statement| modifier(statement)));
    out.extend(ensures(&old, &new));
    out.extend(ends(&new, &fresh));
    out.extend(fewer(&old, &new));
    out.extend(gone((&lost, &fresh), &says));
    out.extend(constants(&old, &new));
    out
}

fn says(statement: &Statement) -> bool {
    let words = ["end", "begin", "else", "rescue", "ensure", "do", "then"];
    SAYS.iter().any(|word| statement.bare.starts_with(word.trim_end()))
        || words.iter().any(|word| statement.bare == *word || statement.bare.starts_with(&format!("{word} ")))
}

fn fails(text: &str) -> bool {
    FAILS.iter().any(|word| {
        text.match_indices(word).any(|(place, _)| {
            let before = text.get(..place).and_then(|head| head.chars().next_back()).unwrap_or(' ');
            let behind = text.get(place + word.len()..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
            !before.is_alphanumeric()
                && !matches!(before, '_' | '.' | ':')
                && !behind.is_alphanumeric()
                && behind != '_'
        })
    })
}

/// Each `rescue` clause: its statement and its body.
fn clauses(all: &[Statement]) -> Vec<(&Statement, &[Statement])> {
    let starts = all
        .iter()
        .enumerate()
        .filter(|(_, statement)| statement.bare == "rescue" || statement.bare.starts_with("rescue "));
    starts
        .map(|(place, statement)| {
            let rest = all.get(place + 1..).unwrap_or_default();
            let mut depth = 0_i32;
            let end = rest.iter().position(|inner| {
                let word = inner.bare.split([' ', '(']).next().unwrap_or_default();
                if depth == 0 && matches!(word, "end" | "ensure" | "rescue" | "else") {
                    return true;
                }
                depth += i32::from(
                    matches!(word, "if" | "unless" | "case" | "begin" | "while" | "def")
                        || inner.bare.ends_with(" do")
                        || inner.bare.contains(" do |"),
                );
                depth -= i32::from(word == "end");
                false
            });
            (statement, rest.get(..end.unwrap_or(rest.len())).unwrap_or_default())
        })
        .collect()
}

/// More `rescue` clauses than before in which nothing fails.
fn rescues(old: &[Statement], new: &[Statement]) -> Vec<Finding> {
    let key = |(statement, body): &(&Statement, &[Statement])| {
        let mut key = statement.text.clone();
        body.iter().for_each(|inner| key.push_str(&inner.text));
        key
    };
    let had: Vec<String> = clauses(old).iter().map(key).collect();
    // All items are tried, then it fails: something new fails outside of the handlers.
    let failing = |all: &[Statement]| all.iter().filter(|statement| fails(&statement.bare)).count();
    let fails_later = failing(new) > failing(old);
    let mut out = Vec::new();
    for clause in clauses(new).into_iter().filter(|clause| !had.contains(&key(clause))) {
        let (statement, body) = clause;
        if body.iter().any(|inner| fails(&inner.bare) || inner.bare.contains("retry"))
            && body.iter().any(|inner| fails(&inner.bare))
        {
            continue;
        }
        if expected(statement, before_clause(new, statement)) {
            continue;
        }
        let kept = body.iter().any(|inner| collected(&inner.bare, new));
        let quiet = body.iter().all(says_or_constant);
        let weight = if quiet || body.iter().any(|inner| inner.bare.starts_with("retry")) {
            Weight::Refuse
        } else {
            Weight::Medium
        };
        let weight = if fails_later { Weight::Medium } else { weight };
        if !kept {
            out.push(at(
                "masking/swallowed",
                statement.line,
                weight,
                "an error is rescued and nothing fails",
            ));
        }
    }
    out
}

/// What an exception says is already so, by the calls that want it so.
const EXPECTED: &[(&str, &[&str])] = &[
    ("Errno::ENOENT", &["delete", "unlink", "rm", "rmdir", "rm_r", "rmtree", "remove_entry", "remove_file"]),
    ("Errno::EEXIST", &["mkdir", "mkdir_p", "symlink", "mkfifo", "link"]),
    ("Errno::ESRCH", &["kill"]),
    ("Errno::ECHILD", &["wait", "wait2", "waitpid", "detach"]),
    ("LoadError", &["require", "require_relative"]),
];

/// Whether one expected exception is caught around nothing but one call that wants what it says.
fn expected(clause: &Statement, guarded: Option<&Statement>) -> bool {
    let caught = clause.bare.trim_start_matches("rescue").split("=>").next().unwrap_or_default().trim();
    let calls =
        EXPECTED.iter().find(|(name, _)| *name == caught).map(|(_, calls)| *calls).unwrap_or_default();
    guarded.is_some_and(|guarded| {
        guarded.bare.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| calls.contains(&word))
    })
}

/// The only statement between `begin` or `def` and a clause.
fn before_clause<'a>(all: &'a [Statement], clause: &Statement) -> Option<&'a Statement> {
    let end = all.iter().position(|statement| std::ptr::eq(statement, clause))?;
    let before = all.get(..end)?;
    let begins = |statement: &&Statement| statement.bare == "begin" || statement.bare.starts_with("def ");
    match before {
        [.., begin, only] if begins(&begin) => Some(only),
        _ => None,
    }
}

fn says_or_constant(statement: &Statement) -> bool {
    let value = statement.bare.split_once(" = ").map(|(_, value)| value);
    let constant = value.is_some_and(|value| {
        !value.chars().any(char::is_alphabetic) || matches!(value, "nil" | "true" | "false")
    });
    SAYS.iter().any(|word| statement.bare.starts_with(word))
        || constant
        || statement.bare == "''"
        || statement.bare == "\"\""
}

/// `errors << e` where `errors` decides something later.
fn collected(text: &str, all: &[Statement]) -> bool {
    let name = text
        .split(" <<")
        .next()
        .filter(|_| text.contains("<<"))
        .or_else(|| text.split(" +=").next().filter(|_| text.contains("+=")));
    name.is_some_and(|name| all.iter().any(|other| fails(&other.bare) && other.bare.contains(name)))
}

/// `x rescue y`: a made-up value for an error.
fn modifier(statement: &Statement) -> Option<Finding> {
    let (_, value) = statement.bare.split_once(" rescue ")?;
    let honest = fails(value) || statement.bare.starts_with("rescue");
    (!honest)
        .then(|| at("masking/swallowed", statement.line, Weight::Refuse, "an error becomes a made-up value"))
}

/// `return` in `ensure`, which throws a running error away.
fn ensures(old: &[Statement], new: &[Statement]) -> Option<Finding> {
    let leaving = |all: &[Statement]| -> Vec<u32> {
        let starts = all.iter().enumerate().filter(|(_, statement)| statement.bare == "ensure");
        starts
            .filter_map(|(place, _)| {
                let body = all.get(place + 1..)?.iter().take_while(|inner| inner.bare != "end");
                body.into_iter()
                    .find(|inner| inner.bare.starts_with("return") || inner.bare.starts_with("exit"))
                    .map(|inner| inner.line)
            })
            .collect()
    };
    let (had, now) = (leaving(old), leaving(new));
    let line = now.last().copied().filter(|_| now.len() > had.len())?;
    Some(at("masking/finally", line, Weight::Refuse, "leaving in `ensure` throws the error away"))
}

/// New ends that say success.
fn ends(new: &[Statement], fresh: &[&Statement]) -> Vec<Finding> {
    let mut out = Vec::new();
    for statement in fresh {
        let exits =
            statement.bare.split([' ', '(', '{']).any(|word| matches!(word, "exit" | "exit!" | "at_exit"));
        if !exits || fails(&statement.bare) {
            continue;
        }
        let around: Vec<&str> = new
            .iter()
            .filter(|other| other.line + 3 >= statement.line && other.line <= statement.line)
            .map(|other| other.bare.as_str())
            .collect();
        let empty = around
            .iter()
            .any(|text| text.contains(".empty?") || text.contains(".none?") || text.contains(".size == 0"));
        let tells = around
            .iter()
            .any(|text| text.starts_with("puts") || text.starts_with("warn") || text.contains("logger"));
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
fn fewer(old: &[Statement], new: &[Statement]) -> Option<Finding> {
    let looks = |all: &[Statement]| -> usize {
        all.iter().map(|s| LOOKS.iter().map(|word| s.bare.matches(word).count()).sum::<usize>()).sum()
    };
    let failing = |all: &[Statement]| all.iter().filter(|s| fails(&s.bare)).count();
    if failing(new) < failing(old) {
        return Some(whole("masking/check-removed", Weight::Refuse, "an error is no longer raised"));
    }
    (looks(new) < looks(old))
        .then(|| whole("masking/status-ignored", Weight::Refuse, "a step may fail without anybody noticing"))
}
