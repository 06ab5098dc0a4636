//! Exit codes that a script documents itself, in its head comment, docstring or usage text.
//!
//! Read conservatively. A code counts as an answer only if its words describe an answer and none describes an error,
//! the script ended by an explicit `exit` with that code, and nothing on standard error looks like an error. Words that
//! say neither count as an answer where the list has another code for errors, and the run printed its result and no
//! complaint.

use selfheal_core::outcome::Outcome;
use selfheal_core::run::Capture;
use selfheal_core::trace::Trace;

use super::InterpretInput;
use crate::parsers;
use crate::words::{is_shell, is_strict};

/// How many lines of a script may hold its documentation.
const HEAD_LINES: usize = 120;
/// How many lines before an explicit end may print its answer.
const NEAR: usize = 4;

/// Words of an answer.
const ANSWER: [&str; 37] = [
    "found",
    "differ",
    "differs",
    "different",
    "difference",
    "differences",
    "drift",
    "nothing",
    "none",
    "changed",
    "changes",
    "change",
    "empty",
    "no match",
    "no matches",
    "up to date",
    "up-to-date",
    "outdated",
    "warning",
    "warnings",
    "stale",
    "mismatch",
    "new",
    "no new",
    "not due",
    "due",
    "unchanged",
    "negative",
    "skipped",
    "already",
    "not needed",
    "expired",
    "pending",
    "findings",
    "absent",
    "no",
    "false",
];

/// Words of an error.
const ERROR: [&str; 39] = [
    "error",
    "errors",
    "fail",
    "fails",
    "failed",
    "failure",
    "could",
    "couldn't",
    "cannot",
    "can't",
    "invalid",
    "missing",
    "unable",
    "usage",
    "wrong",
    "bad",
    "broken",
    "corrupt",
    "damaged",
    "denied",
    "unreachable",
    "timeout",
    "abort",
    "aborted",
    "crash",
    "fatal",
    "internal",
    "exception",
    "problem",
    "unexpected",
    "illegal",
    "incomplete",
    "unreadable",
    "unsupported",
    "not supported",
    "no support",
    "malformed",
    "refused",
    "unknown",
];

/// The exit codes that a script documents: code, meaning, and whether it is an answer (`None` when its words do not say).
#[must_use]
pub fn documented_exit_codes(script_text: &str) -> Vec<(i32, String, Option<bool>)> {
    let mut codes: Vec<(i32, String)> = Vec::new();
    let mut in_list = false;
    for line in documentation(script_text) {
        let lower = line.to_lowercase();
        let heading = is_heading(&lower);
        if let Some(rest) = heading.and_then(|at| line.get(at..)).filter(|rest| !rest.trim().is_empty()) {
            codes.extend(inline_list(rest));
        }
        if heading.is_some() {
            in_list = true;
        } else if let Some(entry) = exit_entry(line).or_else(|| in_list.then(|| list_entry(line)).flatten()) {
            codes.push(entry);
        } else if line.trim().is_empty() {
            in_list = false;
        } else if in_list && line.starts_with("   ") {
            // The continuation of an entry.
            if let Some((_, meaning)) = codes.last_mut() {
                meaning.push(' ');
                meaning.push_str(line.trim());
            }
        }
    }
    codes.into_iter().map(|(code, meaning)| (code, parsers::bounded(&meaning), is_answer(&meaning))).collect()
}

/// What a script's own documentation says of the run, when it says that the code is an answer.
pub(super) fn outcome(input: &InterpretInput<'_>, code: i32) -> Option<Outcome> {
    let script = input.script?;
    let codes = documented_exit_codes(script);
    let (_, meaning, answer) = codes.iter().find(|(known, ..)| *known == code)?;
    let is_answer = answer.unwrap_or_else(|| code > 1 && told_apart(&codes) && only_printed(input));
    let explicit = match input.trace {
        Some(trace) => ended_explicitly(trace, script, code),
        None => has_exit(script, code) && !may_be_accident(input, script, code),
    };
    let answers = is_answer && explicit && !stderr_has_error(input);
    answers.then(|| Outcome::Negative { meaning: meaning.clone() })
}

/// Whether a list has a code of its own for errors.
fn told_apart(codes: &[(i32, String, Option<bool>)]) -> bool {
    codes.iter().any(|(code, _, answer)| *code != 0 && *answer == Some(false))
}

/// Whether a run printed something, and nothing to standard error.
fn only_printed(input: &InterpretInput<'_>) -> bool {
    let empty = |stream: &Capture| parsers::kept(stream).trim().is_empty();
    !empty(&input.run.stdout) && empty(&input.run.stderr)
}

/// Whether the last thing that a probe saw is the explicit end, in words or at its line.
fn ended_explicitly(trace: &Trace, script: &str, code: i32) -> bool {
    let Some(step) = trace.failing_step().or_else(|| trace.steps.last()) else { return false };
    let word = code.to_string();
    let said = step.words.first().is_some_and(|first| first == "exit" || first == "return")
        && step.words.get(1).is_some_and(|second| *second == word);
    let line = script.lines().nth((step.line as usize).saturating_sub(1)).unwrap_or_default();
    said || has_exit(line, code)
}

/// Without a probe, an explicit end must be told from a script that fell off its end, or that strict mode ended, with
/// the same code. What is printed just before the explicit end must have been printed; or the script is one that can
/// end with that code in no other way.
fn may_be_accident(input: &InterpretInput<'_>, script: &str, code: i32) -> bool {
    if !is_shell(script) || answered(input, script, code) {
        return false;
    }
    let last = script.lines().rev().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let harmless =
        last.is_some_and(|line| ["exit", "echo ", "printf ", ":"].iter().any(|end| line.starts_with(end)));
    is_strict(script) || !harmless
}

/// Whether something that the script prints just before an explicit end with this code is in the output.
fn answered(input: &InterpretInput<'_>, script: &str, code: i32) -> bool {
    let output = parsers::kept(&input.run.stdout) + &parsers::kept(&input.run.stderr);
    let lines: Vec<&str> = script.lines().collect();
    let ends = lines.iter().enumerate().filter(|(_, line)| has_exit(line, code)).map(|(at, _)| at);
    ends.take(20).any(|at| {
        let own = lines.get(at).into_iter();
        let above = lines.get(at.saturating_sub(NEAR)..at).unwrap_or_default().iter().rev();
        let near = own.chain(above.take_while(|line| is_print(line)));
        near.into_iter().any(|line| printed(line).any(|piece| output.contains(piece)))
    })
}

fn is_print(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("echo ") || line.starts_with("printf ")
}

/// The longer pieces of what a line of shell text prints as it is.
fn printed(line: &str) -> impl Iterator<Item = &str> {
    let words =
        ["echo ", "printf "].iter().find_map(|verb| line.split_once(verb)).map_or("", |(_, words)| words);
    words
        .split(['"', '\'', '$', '%', '\\', '{', '}', '(', ')'])
        .map(str::trim)
        .filter(|piece| piece.len() >= 4)
}

fn stderr_has_error(input: &InterpretInput<'_>) -> bool {
    let text = parsers::kept(&input.run.stderr);
    let known = parsers::read_text(&text).iter().any(|found| found.weight > crate::class::VAGUE);
    known || text.lines().any(|line| sounds_bad(&line.to_lowercase()))
}

fn sounds_bad(lower: &str) -> bool {
    words(lower).any(|word| ERROR.contains(&word) || word == "traceback")
}

/// Whether a text holds an explicit end with a code, in the languages of scripts.
fn has_exit(text: &str, code: i32) -> bool {
    let forms = [
        format!("exit {code}"),
        format!("exit({code})"),
        format!("exit ({code})"),
        format!("SystemExit({code})"),
        format!("return {code}"),
        format!("exitCode = {code}"),
    ];
    text.lines().filter(|line| !line.trim_start().starts_with(['#', '*'])).any(|line| {
        forms.iter().any(|form| {
            line.match_indices(form.as_str()).any(|(at, _)| {
                let behind = line.get(at + form.len()..).and_then(|rest| rest.chars().next());
                !behind.is_some_and(|c| c.is_ascii_digit())
            })
        })
    })
}

/// The lines of a script's documentation, comment signs taken off: comments of the head, docstrings, usage texts.
fn documentation(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut docstring: Option<&str> = None;
    for line in text.lines().take(HEAD_LINES) {
        let trimmed = line.trim();
        if let Some(end) = docstring {
            out.push(line.strip_suffix(end).unwrap_or(line));
            docstring = (!trimmed.ends_with(end)).then_some(end);
        } else if let Some(open) = ["\"\"\"", "'''"]
            .into_iter()
            .find(|open| trimmed.trim_start_matches(['r', 'u']).starts_with(open))
        {
            let inner = trimmed.split_once(open).map_or("", |(_, inner)| inner);
            out.push(inner.strip_suffix(open).unwrap_or(inner));
            docstring = (!inner.contains(open)).then_some(open);
        } else if let Some(comment) = comment(trimmed) {
            out.push(comment);
        } else {
            // Code ends a list, but the text of a here-document or an echo may go on with one.
            out.push(if trimmed.to_lowercase().contains("exit") && !trimmed.starts_with("exit") {
                line
            } else {
                ""
            });
        }
    }
    out
}

fn comment(trimmed: &str) -> Option<&str> {
    let body = trimmed
        .strip_prefix('#')
        .or_else(|| trimmed.strip_prefix("//"))
        .or_else(|| trimmed.strip_prefix("* "))?;
    Some(body.trim_start_matches('#').strip_prefix(' ').unwrap_or(body))
}

/// Where the list of a heading such as `Exit codes:` begins in its line.
fn is_heading(lower: &str) -> Option<usize> {
    const HEADINGS: [&str; 9] = [
        "exit codes",
        "exit code",
        "exit status",
        "exit statuses",
        "exit values",
        "return codes",
        "return values",
        "returns",
        "exit",
    ];
    let start = lower.len() - lower.trim_start().len();
    HEADINGS.iter().find_map(|heading| {
        let behind = lower.trim_start().strip_prefix(heading)?;
        let colon = behind.find(':')?;
        behind.get(..colon)?.trim().is_empty().then_some(start + heading.len() + colon + 1)
    })
}

/// `exit 1   outdated: …`, `exits with 1 if …`, `exit code 1: …`, `exit status 1 means …`.
fn exit_entry(line: &str) -> Option<(i32, String)> {
    const LEADS: [&str; 10] = [
        "exit code ",
        "exit status ",
        "exits with code ",
        "exits with ",
        "exits ",
        "exit ",
        "returns ",
        "rc ",
        "rc=",
        "code ",
    ];
    let trimmed = line.trim_start().trim_start_matches(['-', '*', ' ']);
    let lower = trimmed.to_lowercase();
    let lead = LEADS.iter().find(|lead| lower.starts_with(*lead))?;
    list_entry(trimmed.get(lead.len()..)?)
}

/// `1  nothing to do`, `1: x`, `1 = x`, `1 - x`, `2 if …`.
fn list_entry(line: &str) -> Option<(i32, String)> {
    let line = line.trim().trim_start_matches(['-', '*', ' ', '`']);
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let code: i32 = line.get(..end)?.parse().ok().filter(|code| (0..=255).contains(code))?;
    let rest = line.get(end..)?.trim_start_matches('`');
    rest.starts_with([' ', '\t', ':', '=', '-', ')', '.']).then_some(())?;
    let meaning = rest.trim_matches([' ', '\t', ':', '=', '-', '–', '—', ')', ',', ';', '.']);
    (meaning.len() > 1 && meaning.chars().any(char::is_alphabetic)).then(|| (code, meaning.to_owned()))
}

/// `0 ok, 1 nothing to do, 2 error`.
fn inline_list(rest: &str) -> Vec<(i32, String)> {
    rest.split([',', ';']).filter_map(list_entry).collect()
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-').filter(|word| !word.is_empty())
}

/// Whether the words of a meaning describe an answer. Words of an error outweigh those of an answer.
pub(super) fn is_answer(meaning: &str) -> Option<bool> {
    let lower = meaning.to_lowercase();
    let has = |list: &[&str], text: &str| {
        list.iter().any(|entry| {
            if entry.contains(' ') { text.contains(entry) } else { words(text).any(|w| w == *entry) }
        })
    };
    if has(&ERROR, &lower) {
        return Some(false);
    }
    has(&ANSWER, &lower).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<(i32, Option<bool>)> {
        documented_exit_codes(text).into_iter().map(|(code, _, answer)| (code, answer)).collect()
    }

    #[test]
    fn lists_in_a_head_comment_are_read() {
        let text = "#!/bin/sh\n# Compares.\n#\n#   exit 0   same\n#   exit 1   outdated: see the list\n#   exit 2   could not be done\n";
        assert_eq!(codes(text), [(0, None), (1, Some(true)), (2, Some(false))]);
        let text = "# Exit codes: 0 ok, 1 nothing to do, 2 error\n";
        assert_eq!(codes(text), [(0, None), (1, Some(true)), (2, Some(false))]);
        let text = "# Exit status:\n#  0  fine\n#  1  updates found\n#  3 = usage\n\n# 7 dwarfs\n";
        assert_eq!(codes(text), [(0, None), (1, Some(true)), (3, Some(false))]);
    }

    #[test]
    fn what_a_tool_does_not_support_is_no_answer() {
        let text = "# Exit codes:\n# 1  unsupported protocol; there is no new support for it\n# 2  malformed, nothing read\n# 3  refused: already taken\n";
        assert_eq!(codes(text), [(1, Some(false)), (2, Some(false)), (3, Some(false))]);
    }

    #[test]
    fn docstrings_and_usage_texts_are_read() {
        let text = "#!/usr/bin/env python3\n\"\"\"Watch.\n\nExit codes:\n    0: no news\n    1: changes were found\n    2: the server could not be asked\n\"\"\"\nimport sys\n";
        assert_eq!(codes(text), [(0, Some(true)), (1, Some(true)), (2, Some(false))]);
    }

    #[test]
    fn ordinary_comments_hold_no_codes() {
        assert_eq!(
            codes("# 2024 rewritten\n# keep 3 copies of changed files\n# returns the list\nexit 1\n"),
            []
        );
    }

    #[test]
    fn an_error_word_outweighs_an_answer_word() {
        assert_eq!(is_answer("differences found but report failed"), Some(false));
        assert_eq!(is_answer("input file not readable"), None);
    }
}
