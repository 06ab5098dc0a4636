//! How large a change is, how near to the failure, and what it does to the form of a file.

use std::path::Path;

use selfheal_core::admission::{Finding, Weight};
use selfheal_core::proposal::FileChange;
use selfheal_syntax::diff;

use crate::finding::whole;

/// Changed lines farther than this from the reported line need a word in the summary.
pub const NEAR_LINES: u32 = 40;

/// The texts of one changed file.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its text before.
    pub before: &'a str,
    /// Its text afterwards.
    pub after: &'a str,
}

/// Changed lines of all texts together above a limit.
#[must_use]
pub fn amount(changed: u32, limit: u32) -> Option<Finding> {
    let why = || format!("it changes {changed} lines, more than {limit}");
    (changed > limit).then(|| whole("size/large", Weight::Medium, why()))
}

/// Changed lines far from where the failure was reported that the summary does not name.
#[must_use]
pub fn distance(change: Change<'_>, reported: Option<u32>, summary: &[String]) -> Option<Finding> {
    let reported = reported?;
    let named = numbers(summary);
    let far = diff::hunks(change.before, change.after).into_iter().find(|hunk| {
        let away = if hunk.old.contains(&reported) { 0 } else { gap(hunk.old.start, hunk.old.end, reported) };
        away > NEAR_LINES && !named.iter().any(|line| near(hunk.new.start, hunk.new.end, *line))
    })?;
    let line = far.new.start;
    let why =
        format!("it changes line {line}, far from line {reported} where the job failed, and does not say so");
    Some(Finding { line: Some(line), ..whole("size/far", Weight::Medium, why) })
}

fn gap(start: u32, end: u32, line: u32) -> u32 {
    if line < start { start - line } else { (line + 1).saturating_sub(end.max(start + 1)) }
}

fn near(start: u32, end: u32, line: u32) -> bool {
    start.saturating_sub(2) <= line && line <= end + 1
}

/// The numbers in a summary.
fn numbers(summary: &[String]) -> Vec<u32> {
    let digits = summary.iter().flat_map(|line| line.split(|c: char| !c.is_ascii_digit()));
    digits.filter_map(|number| number.parse().ok()).collect()
}

/// What a change does to the form of a file: line ends, byte order mark, final newline, white space only.
#[must_use]
pub fn form(change: Change<'_>) -> Vec<Finding> {
    let (before, after) = (change.before, change.after);
    let note: fn(&str, &str) -> Finding = |rule, why| whole(rule, Weight::Note, why);
    let medium: fn(&str, &str) -> Finding = |rule, why| whole(rule, Weight::Medium, why);
    let mut out = Vec::new();
    if before.contains("\r\n") != after.contains("\r\n") {
        // Taking those of another system away is a repair; bringing them is none.
        let brings = !before.is_empty() && after.contains("\r\n");
        let make = if brings { medium } else { note };
        out.push(make("size/line-ends", "it changes the line ends"));
    }
    if before.starts_with('\u{feff}') != after.starts_with('\u{feff}') {
        let make = if after.starts_with('\u{feff}') && !before.is_empty() { medium } else { note };
        out.push(make("size/byte-order-mark", "it adds or removes a byte order mark"));
    }
    if !before.is_empty() && before.ends_with('\n') != after.ends_with('\n') {
        let make = if before.ends_with('\n') { medium } else { note };
        out.push(make("size/final-newline", "it adds or removes the newline at the end"));
    }
    out.extend(formatting(before, after));
    out
}

/// Hunks that change nothing but white space.
fn formatting(before: &str, after: &str) -> Option<Finding> {
    let squeeze =
        |lines: &[String]| lines.iter().flat_map(|line| line.split_whitespace()).collect::<String>();
    let line_ends = before.contains("\r\n") != after.contains("\r\n");
    let hunks = diff::hunks(before, after);
    let only_space = |hunk: &&diff::Hunk| {
        squeeze(&hunk.removed) == squeeze(&hunk.added)
            && !squeeze(&hunk.removed).is_empty()
            && hunk.removed != hunk.added
    };
    let lines: usize = hunks.iter().filter(only_space).map(|hunk| hunk.added.len()).sum();
    let why = format!("it changes only the white space of {lines} lines");
    (lines > 2 && !line_ends).then(|| whole("size/formatting", Weight::Medium, why))
}

/// A change of permission bits: making a script executable is a note, everything that opens it to others is more.
#[must_use]
pub fn mode(change: &FileChange, before: Option<u32>) -> Option<Finding> {
    let after = change.mode?;
    let before = before.unwrap_or(0o644);
    let added = after & !before;
    let weight = if added & 0o7022 != 0 { Weight::Refuse } else { Weight::Note };
    let why = format!("it changes the mode from {before:o} to {after:o}");
    (after != before).then(|| whole("size/mode", weight, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'a>(before: &'a str, after: &'a str) -> Change<'a> {
        Change { path: Path::new("/j/run.sh"), before, after }
    }

    #[test]
    fn large_changes_are_medium() {
        assert!(amount(10, 10).is_none());
        assert_eq!(amount(11, 10).map(|finding| finding.weight), Some(Weight::Medium));
    }

    #[test]
    fn a_far_change_must_be_named() {
        let before = "a\n".repeat(100);
        let after = before.replacen("a\n", "b\n", 1);
        assert!(distance(change(&before, &after), Some(90), &[]).is_some());
        assert!(distance(change(&before, &after), Some(90), &["line 1: renamed".to_owned()]).is_none());
        assert!(distance(change(&before, &after), Some(20), &[]).is_none());
        assert!(distance(change(&before, &after), None, &[]).is_none());
    }

    #[test]
    fn form_changes_are_noted() {
        let rules = |before: &str, after: &str| {
            form(change(before, after)).into_iter().map(|f| f.rule).collect::<Vec<_>>()
        };
        assert_eq!(rules("a\r\n", "a\n"), ["size/line-ends"]);
        assert_eq!(rules("a", "a\n"), ["size/final-newline"]);
        assert_eq!(rules("a\n", "\u{feff}a\n"), ["size/byte-order-mark"]);
        assert_eq!(rules("a b\nc d\ne f\n", "a  b\nc  d\ne  f\n"), ["size/formatting"]);
        assert!(rules("a b\n", "a  b\n").is_empty());
    }

    #[test]
    fn opening_a_file_to_others_is_refused() {
        let with = |mode| FileChange { path: "/j/x".into(), before: None, after: None, mode: Some(mode) };
        assert_eq!(mode(&with(0o755), Some(0o644)).map(|f| f.weight), Some(Weight::Note));
        assert_eq!(mode(&with(0o777), Some(0o644)).map(|f| f.weight), Some(Weight::Refuse));
        assert_eq!(mode(&with(0o4755), Some(0o755)).map(|f| f.weight), Some(Weight::Refuse));
        assert!(mode(&with(0o644), Some(0o644)).is_none());
    }
}
