//! Differences between two texts, by lines.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use similar::{DiffOp, TextDiff};

/// How long a comparison may search for the smallest difference before it settles for a larger one.
const PATIENCE: Duration = Duration::from_millis(500);

/// One group of changed lines without context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The removed lines in the old text, from 1, the end excluded; empty for a pure addition.
    pub old: Range<u32>,
    /// The added lines in the new text, from 1, the end excluded; empty for a pure removal.
    pub new: Range<u32>,
    /// The removed lines without line ends.
    pub removed: Vec<String>,
    /// The added lines without line ends.
    pub added: Vec<String>,
}

fn compare<'a>(before: &'a str, after: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(PATIENCE).diff_lines(before, after)
}

/// The difference as `diff -u` prints it, both sides named by `path`. Empty when the texts are equal.
#[must_use]
pub fn unified(path: &str, before: &str, after: &str) -> String {
    let diff = compare(before, after);
    let path = quoted(path);
    diff.unified_diff().context_radius(3).header(&path, &path).to_string()
}

/// A name as git and `diff` write it: one that could end its line, and so pretend to be more of the difference, in quotes.
fn quoted(path: &str) -> Cow<'_, str> {
    if !path.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
        return Cow::Borrowed(path);
    }
    let mut text = String::from("\"");
    for c in path.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| text.push_str(&format!("\\{byte:03o}")));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    Cow::Owned(text)
}

/// The groups of changed lines. Neighbouring removals and additions are one hunk.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let diff = compare(before, after);
    let line = |text: Option<&str>| text.unwrap_or_default().trim_end_matches(['\n', '\r']).to_owned();
    let mut out: Vec<Hunk> = Vec::new();
    for op in diff.ops() {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        let removed = old.clone().map(|at| line(diff.old_slice(at)));
        let added = new.clone().map(|at| line(diff.new_slice(at)));
        let (old, new) = (from_one(&old), from_one(&new));
        match out.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
                last.removed.extend(removed);
                last.added.extend(added);
            }
            _ => out.push(Hunk { old, new, removed: removed.collect(), added: added.collect() }),
        }
    }
    out
}

fn from_one(range: &Range<usize>) -> Range<u32> {
    range.start as u32 + 1..range.end as u32 + 1
}

/// How many lines changed: per hunk the larger of added and removed.
#[must_use]
pub fn changed_lines(before: &str, after: &str) -> u32 {
    hunks(before, after).iter().map(|hunk| hunk.old.len().max(hunk.new.len()) as u32).sum()
}

/// The numbers, from 1, of the lines of the new text that are new or changed.
#[must_use]
pub fn changed_line_numbers(before: &str, after: &str) -> Vec<u32> {
    hunks(before, after).into_iter().flat_map(|hunk| hunk.new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "a\nb\nc\nd\n";
    const AFTER: &str = "a\nB\nB2\nc\n";

    #[test]
    fn counts_per_hunk_the_larger_side() {
        assert_eq!(changed_lines(BEFORE, AFTER), 3);
        assert_eq!(changed_line_numbers(BEFORE, AFTER), [2, 3]);
        assert_eq!(changed_lines(BEFORE, BEFORE), 0);
    }

    #[test]
    fn a_unified_diff_has_names_and_hunks() {
        let text = unified("run.sh", "a\nb\n", "a\nc\n");
        assert_eq!(text, "--- run.sh\n+++ run.sh\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified("x", "a", "a"), "");
    }

    #[test]
    fn a_name_cannot_pretend_to_be_part_of_the_difference() {
        let text = unified("x\n@@ -1 +1 @@\n-rm \"-rf\" /\u{1b}", "a\n", "b\n");
        let wanted = r#""x\n@@ -1 +1 @@\n-rm \"-rf\" /\033""#;
        assert_eq!(text, format!("--- {wanted}\n+++ {wanted}\n@@ -1 +1 @@\n-a\n+b\n"));
    }

    #[test]
    fn a_missing_final_newline_is_shown() {
        assert!(unified("x", "a", "a\n").contains("\\ No newline at end of file"));
        assert_eq!(changed_lines("a", "a\n"), 1);
    }
}
